/* SPDX-License-Identifier: MIT
 *
 * mpiexec's options -workshare and those that begin so, and the WS_ variables that they set. For utils.c alone.
 *
 * Which there are it reads, when one is used, from a file of the installation, share/workshare/options: a new option, or a new word for
 * one, is no new build of MPICH. A line of the file is a key and a value; `variable` begins an option. What the keys mean stands in
 * runtime/options/options.txt, of which the file is made; keys and kinds that are not known here are passed over.
 */
#ifndef WORKSHARE_OPTIONS_H_INCLUDED
#define WORKSHARE_OPTIONS_H_INCLUDED

#include <stdarg.h>
#include "workshare_letters.h"

enum { WORKSHARE_WORDS = 16 };

typedef struct workshare_option {
    const char *env;            /* the variable that it sets */
    const char *name, *placeholder;     /* -workshare-quantum, " {usec}"; "" if it has none */
    const char *kind;
    unsigned long long least, most;     /* of a number */
    const char *words[WORKSHARE_WORDS], *endings[WORKSHARE_WORDS];      /* ended by NULL */
    int any_ending;             /* after '=' it may end in another way */
    const char *alone, *needs, *enables, *calms, *preloads, *wanted;
    const char *help[4];
    const char *val;            /* as given */
    int in_config_file;         /* it was given there */
    struct workshare_option *next;
} workshare_option_t;

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

/* A file of the installation, below share/workshare. NULL, with errno, if it cannot be read. */
static FILE *workshare_open(const char *name, char path[PATH_MAX + 64])
{
    ssize_t len = readlink("/proc/self/exe", path, PATH_MAX);

    path[len > 0 ? len : 0] = '\0';
    if (strrchr(path, '/'))
        *strrchr(path, '/') = '\0';
    strcat(path, "/../share/workshare/");
    return fopen(strcat(path, name), "r");
}

static void workshare_split(char *text, const char *words[WORKSHARE_WORDS])
{
    int n = 0;

    for (text = strtok(text, " "); text && n < WORKSHARE_WORDS - 1; text = strtok(NULL, " "))
        words[n++] = text;
}

/* A line of the file: `value` is its own. */
static void workshare_take(workshare_option_t * o, const char *key, char *value)
{
    size_t len;
    int i;

    if (!strcmp(key, "option")) {
        len = strcspn(value, " =[");
        o->placeholder = MPL_strdup(value + len);
        value[len] = '\0';
        o->name = value;
    } else if (!strcmp(key, "kind")) {
        o->kind = value;
        if (sscanf(value, "number %llu %llu", &o->least, &o->most) == 2)
            o->kind = "number";
    } else if (!strcmp(key, "words")) {
        workshare_split(value, o->words);
    } else if (!strcmp(key, "endings")) {
        workshare_split(value, o->endings);
    } else if (!strcmp(key, "any_ending")) {
        o->any_ending = 1;
    } else if (!strcmp(key, "help")) {
        for (i = 0; i < 3 && o->help[i]; i++);
        o->help[i] = value;
    } else {
        const char **place = !strcmp(key, "alone") ? &o->alone : !strcmp(key, "needs") ? &o->needs :
            !strcmp(key, "enables") ? &o->enables : !strcmp(key, "calms") ? &o->calms : !strcmp(key, "preloads") ? &o->preloads :
            !strcmp(key, "wanted") ? &o->wanted : NULL;
        if (place)
            *place = value;
    }
}

static workshare_option_t *workshare_read;     /* the options, in the file's order, once one was used */

/* Reads them. NULL, with the file's name and errno, if that fails. */
static workshare_option_t *workshare_table(char path[PATH_MAX + 64])
{
    workshare_option_t **last = &workshare_read;
    char line[1024], key[32];
    FILE *f;

    if (workshare_read || !(f = workshare_open("options", path)))
        return workshare_read;
    while (fgets(line, sizeof(line), f)) {
        int at = 0;
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#' || sscanf(line, "%31s %n", key, &at) != 1 || !at)
            continue;
        if (!strcmp(key, "variable")) {
            if (*last)
                last = &(*last)->next;
            *last = MPL_calloc(1, sizeof(**last), MPL_MEM_OTHER);
            (*last)->env = MPL_strdup(line + at);
            (*last)->name = (*last)->placeholder = (*last)->kind = "";
            (*last)->wanted = "right";
        } else if (*last) {
            workshare_take(*last, key, MPL_strdup(line + at));
        }
    }
    fclose(f);
    if (!workshare_read)
        errno = ENODATA;
    return workshare_read;
}

/* The same for somebody who uses one of them, `what`. */
static workshare_option_t *workshare_options(const char *what)
{
    char path[PATH_MAX + 64];
    workshare_option_t *all = workshare_table(path);

    if (!all)
        workshare_error("%s: cannot read which options there are, in %s: %s; is the installation complete?", what, path, strerror(errno));
    return all;
}

static void workshare_help(void)
{
    char head[128], path[PATH_MAX + 64];
    workshare_option_t *o = workshare_table(path);
    int i;

    printf("\n");
    printf("  Workshare options (ranks that wait in MPI help ranks that compute):\n");
    if (!o)
        printf("    cannot be listed: %s: %s\n", path, strerror(errno));
    for (; o; o = o->next) {
        snprintf(head, sizeof(head), "%s%s", o->name, o->placeholder);
        for (i = 0; *o->name && i < 4 && o->help[i]; i++)
            printf("    %-32s %s\n", i ? "" : head, o->help[i]);
    }
    printf("   A value may also follow as in -workshare-quantum=250. The variables that they set, WS_QUANTUM and\n"
           "   so on, count in mpiexec's own environment as well. See workshare(1).\n");
}

/* The version changes without a new build of MPICH, too. */
static void workshare_print_version(void)
{
    char path[PATH_MAX + 64], version[64];
    FILE *f = workshare_open("version", path);

    if (!f)
        return;
    if (fgets(version, sizeof(version), f))
        HYDU_dump_noprefix(stdout, "    Workshare Version:                       %.*s\n",
                           (int) strcspn(version, "\n"), version);
    fclose(f);
}

/* An option that is not known, without its dashes and value: did the user mean one of these? */
static void workshare_suggest(const char *arg, workshare_option_t * o)
{
    workshare_option_t *nearest = NULL;
    int least = 4, distance;

    for (; o; o = o->next) {
        distance = *o->name ? workshare_letters_apart(arg, o->name + 1) : least;
        if (distance < least) {
            least = distance;
            nearest = o;
        }
    }
    if (nearest)
        workshare_error("unknown option -%s, did you mean %s?", arg, nearest->name);
}

static void workshare_unknown(const char *arg, workshare_option_t * o)
{
    const char *before = "";

    workshare_suggest(arg, o);
    fprintf(stderr, "mpiexec: unknown option -%s (known: ", arg);
    for (; o; o = o->next)
        if (*o->name) {
            fprintf(stderr, "%s%s%s", before, o->name, o->placeholder);
            before = ", ";
        }
    fprintf(stderr, ")\n");
    exit(EXIT_FAILURE);
}

/* All options that hydra's table does not have */
static HYD_status workshare_misspelt_fn(char *arg, char ***argv)
{
    char path[PATH_MAX + 64];
    HYD_status status = HYD_SUCCESS;

    workshare_suggest(arg, workshare_table(path));
    HYDU_ERR_SETANDJUMP(status, HYD_INTERNAL_ERROR, "unrecognized argument %s\n", arg);
  fn_exit:
    return status;

  fn_fail:
    goto fn_exit;
}

static int workshare_ends_well(const workshare_option_t * o, const char *val)
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

static int workshare_is_number(const workshare_option_t * o, const char *val)
{
    char *end;
    unsigned long long number;

    errno = 0;
    number = strtoull(val, &end, 10);
    return isdigit(*val) && *end == '\0' && !errno && number >= o->least && number <= o->most;
}

static int workshare_is_valid(const workshare_option_t * o, const char *val)
{
    int i;

    for (i = 0; o->words[i]; i++)
        if (!strcmp(o->words[i], val))
            return 1;
    if (!strcmp(o->kind, "flag"))
        return (*val == '0' || *val == '1') && !val[1];
    if (!strcmp(o->kind, "number"))
        return workshare_is_number(o, val);
    if (!strcmp(o->kind, "file"))
        return *val && (o->any_ending || workshare_ends_well(o, val));
    if (!strcmp(o->kind, "size"))
        return workshare_is_size(val);
    return strcmp(o->kind, "words") != 0;       /* what else there is libws looks at */
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
static char *workshare_next_file(const workshare_option_t * o, char ***argv)
{
    char *word = **argv, *path = NULL;

    if (!word || *word == '-' || !strcmp(word, ":"))
        return NULL;
    if (workshare_ends_well(o, word))
        return *(*argv)++;
    if (strchr(word, '.') && !strchr(word, '/') && access(word, X_OK) &&
        HYDU_find_in_path(word, &path) == HYD_SUCCESS && !*path)
        workshare_error("%s %s: that is no program; a file's name comes after '=', as in %s=out%s",
                        o->name, word, o->name, o->endings[0]);
    return NULL;
}

/* All options that begin with -workshare, so that a misspelt one gets a message that helps */
static HYD_status workshare_fn(char *arg, char ***argv)
{
    workshare_option_t *all = workshare_options("-workshare"), *o, *with_file;
    char *val = strchr(arg, '=');

    if (val)
        *val++ = '\0';

    for (o = all; o && (!*o->name || strcasecmp(arg, o->name + 1)); o = o->next);
    if (!o)
        workshare_unknown(arg, all);
    with_file = o->next && !strcmp(o->name, o->next->name) ? o->next : o;
    if (!strcmp(with_file->kind, "file") && !val)
        val = workshare_next_file(with_file, argv);
    if (val)
        o = with_file;
    if (!*o->placeholder) {
        if (val)
            workshare_error("option %s takes no value, it was given '%s'", o->name, val);
        o->val = "1";
        return HYD_SUCCESS;
    }
    if (!val && o->alone)
        val = (char *) o->alone;
    if (!val && !(val = *(*argv)++))
        workshare_error("%s: the value is missing, %s", o->name, o->wanted);
    if (!workshare_is_valid(o, val))
        workshare_error("%s: '%s' is not %s", o->name, val, o->wanted);
    if (!strcmp(o->kind, "file"))
        val = (char *) workshare_path(val);
    if (o->val && reading_config_file && !o->in_config_file)
        return HYD_SUCCESS;     /* the command line goes first */
    if (o->val && strcmp(o->val, val))
        workshare_error("%s is given twice: %s and %s", o->name, o->val, val);
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
static const char *workshare_value(const workshare_option_t * o)
{
    const char *val = o->val ? o->val : workshare_genv(o->env);

    return val ? val : getenv(o->env);
}

/* After a parallel region OpenMP's threads spin for milliseconds on the cores that others are to use. Its runtimes
 * read how long before main, so it has to come from here, unless the user has said it. Where there are more threads
 * than CPUs at the start, as there are with lent cores, libgomp's sleep almost at once, and waking one for the next
 * region takes longer than a short region: "active" makes that 1000 spins, some 20 us; what is said beside it holds. */
static void workshare_calm_openmp(void)
{
    static const char *const said[] = { "OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME", NULL };
    int i;

    for (i = 0; said[i]; i++)
        if (getenv(said[i]) || workshare_genv(said[i]))
            return;
    setenv("OMP_WAIT_POLICY", "active", 1);
    setenv("GOMP_SPINCOUNT", "10000", 1);
    setenv("KMP_BLOCKTIME", "1", 1);
}

/* Libraries that are loaded first are named in a variable; those that the user names stay in it. */
static const char *workshare_before(const char *library, const char *others)
{
    char *all = MPL_malloc(strlen(library) + strlen(others) + 2, MPL_MEM_OTHER);

    sprintf(all, "%s%s%s", library, *others ? ":" : "", others);
    return all;
}

/* OpenMP's runtimes are linked with the program: only a library that is loaded before them sees what it asks of them. */
static void workshare_preload(const workshare_option_t * o)
{
    static const char name[] = "LD_PRELOAD";
    char path[PATH_MAX + 64], library[PATH_MAX];
    struct HYD_env *env;
    const char *own = getenv(name);
    FILE *f;

    snprintf(path, sizeof(path), "../../lib/%s", o->preloads);
    f = workshare_open(MPL_strdup(path), path);
    if (!f || !realpath(path, library))
        workshare_error("%s: cannot read %s: %s; is the installation complete?", o->name, path, strerror(errno));
    fclose(f);
    if (library[strcspn(library, " :")])
        workshare_error("%s: libraries cannot be loaded first from a folder with a blank or a colon in its name: %s", o->name, library);
    for (env = HYD_server_info.user_global.global_env.user; env; env = env->next)
        if (!strcmp(env->env_name, name)) {
            env->env_value = (char *) workshare_before(library, env->env_value ? env->env_value : "");
            return;
        }
    if (own)
        setenv(name, workshare_before(library, own), 1);
    else
        HYDU_append_env_to_list(name, library, &HYD_server_info.user_global.global_env.system);
}

/* A variable of mpiexec's own environment: the processes inherit it, if it makes sense. */
static void workshare_check_variable(const workshare_option_t * o)
{
    const char *val = getenv(o->env);
    int is_file = !strcmp(o->kind, "file");

    if (o->val || workshare_genv(o->env) || !val || (is_file && !*val))
        return;
    if (!workshare_is_valid(o, val))
        workshare_error("%s=%s is not %s", o->env, val, o->wanted);
    if (is_file)
        setenv(o->env, workshare_path(val), 1);
}

static void workshare_check_together(workshare_option_t * all, const workshare_option_t * o)
{
    const workshare_option_t *n;
    const char *val, *other;

    for (n = all; o->val && o->needs && n; n = n->next)
        if (!strcmp(n->name, o->needs) && !workshare_value(n))
            workshare_error("%s has no meaning without %s", o->name, n->name);
    for (n = all; n != o && !strcmp(o->kind, "file"); n = n->next)
        if (!strcmp(n->kind, "file") && (val = workshare_value(n)) && (other = workshare_value(o)) && *val && !strcmp(val, other))
            workshare_error("%s and %s are given the same file, %s", n->name, o->name, val);
}

static void workshare_set_env(void)
{
    int on_by_variable = getenv("WS_ENABLE") || workshare_genv("WS_ENABLE"), on;
    workshare_option_t *all = on_by_variable ? workshare_options("WS_ENABLE") : workshare_read, *o, *n;
    const char *val;

    if (!all)
        return;

    /* In a process of a job (hydra tells it so) these variables are that job's: another one that it
     * starts would write over its files. */
    for (o = all; o && getenv("MPI_LOCALNRANKS"); o = o->next)
        unsetenv(o->env);

    for (o = all; o->next && strcmp(o->env, "WS_ENABLE"); o = o->next);
    workshare_check_variable(o);
    for (n = all; n && !workshare_value(o); n = n->next)
        if (n->enables && n->val && strcmp(n->val, "none"))
            o->val = "1";
    val = workshare_value(o);
    on = val && !strcmp(val, "1");

    for (o = all; o; o = o->next) {
        if (o->val && !on && !(o->enables && !strcmp(o->val, "none")))
            workshare_error("%s has no meaning without -workshare", o->name);
        if (!on)
            continue;
        workshare_check_variable(o);
        workshare_check_together(all, o);
        if (o->val)
            HYDU_append_env_to_list(o->env, o->val, &HYD_server_info.user_global.global_env.system);
        val = workshare_value(o);
        if (!val || !strcmp(val, "0") || !strcmp(val, "none"))
            continue;
        if (o->calms)
            workshare_calm_openmp();
        if (o->preloads)
            workshare_preload(o);
    }
}

#endif /* WORKSHARE_OPTIONS_H_INCLUDED */
