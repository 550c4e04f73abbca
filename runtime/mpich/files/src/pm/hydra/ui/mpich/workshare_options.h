/* SPDX-License-Identifier: MIT
 *
 * mpiexec's options -workshare and those that begin so, and the WS_ variables that they set. For utils.c alone.
 */
#ifndef WORKSHARE_OPTIONS_H_INCLUDED
#define WORKSHARE_OPTIONS_H_INCLUDED

#include <stdarg.h>

static struct workshare_option {
    const char *name;           /* after -workshare */
    const char *env;            /* what it sets: to 1 if it takes no value; itself 0, 1 or up to `most` */
    const char *placeholder;    /* for its value, NULL if it takes none */
    const char *wanted;         /* that value, in words */
    const char *help[2];
    long least, most;           /* a number, */
    int is_size;                /* or a number of bytes, as in OMP_STACKSIZE, */
    const char *words[7];       /* or one of these */
    int is_file;                /* or a file */
    const char *endings[4];     /* whose name ends so; it may be the next word then */
    int any_ending;             /* after '=' it may end in another way */
    const char *alone;          /* the file if none is named */
    const char *needs;          /* another option without which it has no meaning */
    const char *val;            /* as given */
    int in_config_file;         /* it was given there */
} workshare_options[] = {
    {"", "WS_ENABLE",.help = {"turn it on for all processes of the job"}},
    {"-quiet", "WS_QUIET",.help = {"without the line about the outcome at the end"}},
    {"-quantum", "WS_QUANTUM", " {usec}", "a number of microseconds from 1 to 1000000",
     {"a rank that lent its core looks at MPI this often"}, 1, 1000000},
    {"-victim", "WS_VICTIM", " {name}", "one of auto, most, fewest, nearest, random, none",
     {"whom to help first: auto, most, fewest, nearest, random;", "none: nobody, to compare"}, 1, 0,
     .words = {"auto", "most", "fewest", "nearest", "random", "none"}},
    {"-workers", "WS_WORKERS", " {n|auto}", "auto or a number from 0 to 1023",
     {"threads that help on cores which a rank leaves idle"}, 0, 1023,.words = {"auto"}},
    {"-poll", "WS_POLL",.help = {"ranks that only poll (MPI_Test, MPI_Iprobe) help, too"}},
    {"-stacksize", "WS_STACKSIZE", " {size}", "a size from 64K to 1T such as 512M, 4G or 65536 (KiB)",
     {"stack of each thread that helps: as in OMP_STACKSIZE, a", "number with B, K (if none is given), M, G or T"}, 1, 0, 1},
    {"-check", "WS_CHECK", NULL, "a number from 0 to 5",
     {"share every loop, in several orders: are they safe?"}, 0, 5},
    {"-report", "WS_REPORT",.help = {"at the end, what each node, rank and loop did, on stderr"}},
    {"-report", "WS_REPORT_FILE", "={file}", "the name of a file", {"the same to a file: .json, .csv, or text"}, 1, 0,
     .is_file = 1,.endings = {".json", ".csv", ".txt"},.any_ending = 1},
    {"-trace", "WS_TRACE", "[={file}]", "the name of a file that ends in .json or .otf2",
     {"a timeline for ws-timeline and others: .json or .otf2;", "workshare-trace.json if no file is named"}, 1, 0,
     .is_file = 1,.endings = {".json", ".otf2"},.alone = "workshare-trace.json"},
    {"-trace-keep", "WS_TRACE_KEEP", " {which}", "oldest or newest",
     {"oldest or newest: the events kept where not all fit"}, 1, 0,.words = {"oldest", "newest"},.needs = "-trace"},
    {"-trace-buffer", "WS_TRACE_BUFFER", " {mib}", "a number of MiB from 1 to 65536",
     {"memory for them in each process"}, 1, 65536,.needs = "-trace"},
    {NULL}
};

static void workshare_help(void)
{
    struct workshare_option *o;
    char head[64];

    printf("\n");
    printf("  Workshare options (ranks that wait in MPI help ranks that compute):\n");
    for (o = workshare_options; o->name; o++) {
        snprintf(head, sizeof(head), "-workshare%s%s", o->name, o->placeholder ? o->placeholder : "");
        printf("    %-32s %s\n", head, o->help[0]);
        if (o->help[1])
            printf("    %-32s %s\n", "", o->help[1]);
    }
    printf("   A value may also follow as in -workshare-quantum=250. The variables that they set, WS_QUANTUM and\n"
           "   so on, count in mpiexec's own environment as well. See workshare(1).\n");
}

/* The version changes without a new build of MPICH: it stands in a file of the installation. */
static void workshare_print_version(void)
{
    char path[PATH_MAX], version[64];
    ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);
    FILE *f;

    path[len > 0 ? len : 0] = '\0';
    if (strrchr(path, '/'))
        *strrchr(path, '/') = '\0';
    if (!(f = fopen(strncat(path, "/../share/workshare/version", sizeof(path) - strlen(path) - 1), "r")))
        return;
    if (fgets(version, sizeof(version), f))
        HYDU_dump_noprefix(stdout, "    Workshare Version:                       %.*s\n",
                           (int) strcspn(version, "\n"), version);
    fclose(f);
}

/* One message and out: the user mistyped something, hydra's call trace would only hide that. */
static void workshare_error(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    fprintf(stderr, "mpiexec: ");
    vfprintf(stderr, fmt, args);
    fprintf(stderr, "\n");
    va_end(args);
    exit(EXIT_FAILURE);
}

/* How many letters to insert, to drop, to replace or to swap with the next one make b of a */
static int workshare_distance(const char *a, const char *b)
{
    enum { longest = 40 };
    int d[longest + 1][longest + 1];
    int n = strlen(a), m = strlen(b), i, j;

    if (n > longest || m > longest)
        return longest;
    for (i = 0; i <= n; i++)
        for (j = 0; j <= m; j++) {
            int same = i && j && tolower(a[i - 1]) == tolower(b[j - 1]);
            d[i][j] = i && j ? d[i - 1][j - 1] + !same : i + j;
            if (i && d[i - 1][j] + 1 < d[i][j])
                d[i][j] = d[i - 1][j] + 1;
            if (j && d[i][j - 1] + 1 < d[i][j])
                d[i][j] = d[i][j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < d[i][j])
                d[i][j] = d[i - 2][j - 2] + 1;
        }
    return d[n][m];
}

/* An option that is not known, without its dashes and value: did the user mean one of these? */
static void workshare_suggest(const char *arg)
{
    struct workshare_option *o, *nearest = NULL;
    int least = 4, distance;
    char name[64];

    for (o = workshare_options; o->name; o++) {
        snprintf(name, sizeof(name), "workshare%s", o->name);
        distance = workshare_distance(arg, name);
        if (distance < least) {
            least = distance;
            nearest = o;
        }
    }
    if (nearest)
        workshare_error("unknown option -%s, did you mean -workshare%s?", arg, nearest->name);
}

static void workshare_unknown(const char *arg)
{
    char known[512] = "";
    struct workshare_option *o;

    workshare_suggest(arg);
    for (o = workshare_options; o->name; o++)
        snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s-workshare%s%s",
                 o == workshare_options ? "" : ", ", o->name, o->placeholder ? o->placeholder : "");
    workshare_error("unknown option -%s (known: %s)", arg, known);
}

/* All options that hydra's table does not have */
static HYD_status workshare_misspelt_fn(char *arg, char ***argv)
{
    HYD_status status = HYD_SUCCESS;

    workshare_suggest(arg);
    HYDU_ERR_SETANDJUMP(status, HYD_INTERNAL_ERROR, "unrecognized argument %s\n", arg);
  fn_exit:
    return status;

  fn_fail:
    goto fn_exit;
}

static int workshare_ends_well(const struct workshare_option *o, const char *val)
{
    size_t len = strlen(val), ending;
    int i;

    for (i = 0; o->endings[i]; i++) {
        ending = strlen(o->endings[i]);
        if (len > ending && !strcmp(val + len - ending, o->endings[i]))
            return 1;
    }
    return 0;
}

/* As in OMP_STACKSIZE: a number with a unit, K if there is none; blanks do not matter. */
static int workshare_is_size(const char *val)
{
    static const char units[] = "BKMGT";
    const unsigned long least = 64UL << 10, most = 1UL << 40;
    const char *unit;
    char *end;
    unsigned long number;
    int shift = 10;

    val += strspn(val, " \t");
    errno = 0;
    number = strtoul(val, &end, 10);
    if (!isdigit(*val) || errno)
        return 0;
    end += strspn(end, " \t");
    if (*end && (unit = strchr(units, toupper(*end)))) {
        shift = 10 * (unit - units);
        end++;
    }
    return end[strspn(end, " \t")] == '\0' && number <= most >> shift && number << shift >= least;
}

static int workshare_is_valid(const struct workshare_option *o, const char *val)
{
    char *end;
    long number;
    int i;

    if (!o->placeholder)
        return *val >= '0' && *val <= '0' + (o->most ? o->most : 1) && !val[1];
    if (o->is_file)
        return *val && (o->any_ending || workshare_ends_well(o, val));
    if (o->is_size)
        return workshare_is_size(val);
    for (i = 0; o->words[i]; i++)
        if (!strcmp(o->words[i], val))
            return 1;
    number = strtol(val, &end, 10);     /* what is too large for it is too large here */
    return isdigit(*val) && *end == '\0' && number >= o->least && number <= o->most;
}

/* Processes may run in other folders, so they are given the whole path. */
static const char *workshare_path(const char *val)
{
    char folder[PATH_MAX], path[2 * PATH_MAX];

    if (*val == '/' || !getcwd(folder, sizeof(folder)))
        return MPL_strdup(val);
    snprintf(path, sizeof(path), "%s/%s", folder, val);
    return MPL_strdup(path);
}

/* A file may be the next word if its ending says that it is none of another option or the program. */
static char *workshare_next_file(const struct workshare_option *o, char ***argv)
{
    char *word = **argv, *path = NULL;

    if (!word || *word == '-' || !strcmp(word, ":"))
        return NULL;
    if (workshare_ends_well(o, word))
        return *(*argv)++;
    if (strchr(word, '.') && !strchr(word, '/') && access(word, X_OK) &&
        HYDU_find_in_path(word, &path) == HYD_SUCCESS && !*path)
        workshare_error("-workshare%s %s: that is no program; a file's name comes after '=', as in "
                        "-workshare%s=out%s", o->name, word, o->name, o->endings[0]);
    return NULL;
}

/* All options that begin with -workshare, so that a misspelt one gets a message that helps */
static HYD_status workshare_fn(char *arg, char ***argv)
{
    struct workshare_option *o, *with_file;
    char *val = strchr(arg, '=');

    if (val)
        *val++ = '\0';

    for (o = workshare_options; o->name && strcasecmp(arg + strlen("workshare"), o->name); o++);
    if (!o->name)
        workshare_unknown(arg);
    with_file = o[1].name && !strcmp(o->name, o[1].name) ? o + 1 : o;
    if (with_file->is_file && !val)
        val = workshare_next_file(with_file, argv);
    if (val)
        o = with_file;
    if (!o->placeholder) {
        if (val)
            workshare_error("option -workshare%s takes no value, it was given '%s'", o->name, val);
        o->val = "1";
        return HYD_SUCCESS;
    }
    if (!val && o->alone)
        val = (char *) o->alone;
    if (!val && !(val = *(*argv)++))
        workshare_error("-workshare%s: the value is missing, %s", o->name, o->wanted);
    if (!workshare_is_valid(o, val))
        workshare_error("-workshare%s: '%s' is not %s", o->name, val, o->wanted);
    if (o->is_file)
        val = (char *) workshare_path(val);
    if (o->val && reading_config_file && !o->in_config_file)
        return HYD_SUCCESS;     /* the command line goes first */
    if (o->val && strcmp(o->val, val))
        workshare_error("-workshare%s is given twice: %s and %s", o->name, o->val, val);
    o->val = MPL_strdup(val);
    o->in_config_file = reading_config_file;
    return HYD_SUCCESS;
}

static const char *workshare_genv(const char *name)
{
    struct HYD_env *env;

    for (env = HYD_server_info.user_global.global_env.user; env; env = env->next)
        if (!strcmp(env->env_name, name))
            return env->env_value;
    return NULL;
}

/* What the processes will get: hydra gives them its own environment, over that -genv's, over that the options'. */
static const char *workshare_value(const struct workshare_option *o)
{
    const char *val = o->val ? o->val : workshare_genv(o->env);

    return val ? val : getenv(o->env);
}

/* After a parallel region OpenMP's threads spin for milliseconds on the cores that workers are to use.
 * Its runtimes read how long before main, so it has to come from here, unless the user has said it. */
static void workshare_calm_openmp(void)
{
    static const char *const said[] = { "OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME", NULL };
    int i;

    for (i = 0; said[i]; i++)
        if (getenv(said[i]) || workshare_genv(said[i]))
            return;
    setenv("GOMP_SPINCOUNT", "10000", 1);
    setenv("KMP_BLOCKTIME", "1", 1);
}

/* A variable of mpiexec's own environment: the processes inherit it, if it makes sense. */
static void workshare_check_variable(const struct workshare_option *o)
{
    const char *val = getenv(o->env);

    if (o->val || workshare_genv(o->env) || !val || (o->is_file && !*val))
        return;
    if (!workshare_is_valid(o, val))
        workshare_error("%s=%s is not %s", o->env, val, o->wanted ? o->wanted : "0 or 1");
    if (o->is_file)
        setenv(o->env, workshare_path(val), 1);
}

static void workshare_set_env(void)
{
    struct workshare_option *o, *n;
    const char *val, *other;
    int on;

    /* In a process of a job (hydra tells it so) these variables are that job's: another one that it
     * starts would write over its files. */
    for (o = workshare_options; o->name && getenv("MPI_LOCALNRANKS"); o++)
        unsetenv(o->env);

    workshare_check_variable(workshare_options);
    val = workshare_value(workshare_options);
    on = val && !strcmp(val, "1");

    for (o = workshare_options; o->name; o++) {
        if (o->val && !on)
            workshare_error("-workshare%s has no meaning without -workshare", o->name);
        for (n = workshare_options; o->val && o->needs && n->name; n++)
            if (!strcmp(n->name, o->needs) && !workshare_value(n))
                workshare_error("-workshare%s has no meaning without -workshare%s", o->name, n->name);
        if (on)
            workshare_check_variable(o);
        for (n = workshare_options; on && o->is_file && n < o; n++)
            if (n->is_file && (val = workshare_value(n)) && (other = workshare_value(o)) && *val && !strcmp(val, other))
                workshare_error("-workshare%s and -workshare%s are given the same file, %s", n->name, o->name, val);
        if (o->val)
            HYDU_append_env_to_list(o->env, o->val, &HYD_server_info.user_global.global_env.system);
        if (on && !strcmp(o->name, "-workers") && (val = workshare_value(o)) && strcmp(val, "0"))
            workshare_calm_openmp();
    }
}

#endif /* WORKSHARE_OPTIONS_H_INCLUDED */
