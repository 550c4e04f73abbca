/* SPDX-License-Identifier: MIT
 *
 * children WHAT...: programs that rank 0 starts.
 *    start     `env` in each way that the C library has: prints what they see of the loader's and OpenMP's variables,
 *              and of ours
 *    set       the same, after it has set OMP_NUM_THREADS itself, to the number that it is told
 *    tell      each rank prints OMP_NUM_THREADS and, if it has OpenMP, how many threads that says; starts nothing */
#define _GNU_SOURCE
#include "test.h"
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#ifdef _OPENMP
#include <omp.h>
#endif

extern char **environ;
#define ENV "/usr/bin/env"
static char *arguments[] = {"env", NULL}, **copy;

static void by_execve(void) { execve(ENV, arguments, environ); }
static void by_execve_copy(void) { execve(ENV, arguments, copy); }
static void by_execv(void) { execv(ENV, arguments); }
static void by_execvp(void) { execvp("env", arguments); }
static void by_execvpe(void) { execvpe("env", arguments, copy); }
static void by_execl(void) { execl(ENV, "env", NULL); }
static void by_execlp(void) { execlp("env", "env", NULL); }
static void by_execle(void) { execle(ENV, "env", NULL, copy); }
static void by_fexecve(void) { fexecve(open(ENV, O_RDONLY), arguments, environ); }

static void by_system(void) { CHECK(system("env") == 0); }
static void by_popen(void)
{
    FILE *f = popen("env", "r");
    char line[4096];
    while (f && fgets(line, sizeof line, f))
        fputs(line, stdout);
    fflush(stdout);
    CHECK(f && pclose(f) == 0);
}
typedef int spawn_function(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
                           char *const *, char *const *);
static void spawn(spawn_function *call, const char *file, char **environment)
{
    int status = -1;
    pid_t child;
    CHECK(call(&child, file, NULL, NULL, arguments, environment) == 0);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}
static void by_posix_spawn(void) { spawn(posix_spawn, ENV, environ); }
static void by_posix_spawn_copy(void) { spawn(posix_spawn, ENV, copy); }
static void by_posix_spawnp(void) { spawn(posix_spawnp, "env", copy); }
static void by_vfork(void)
{
    int status = -1;
    pid_t child = vfork();
    if (child == 0) {
        execve(ENV, arguments, copy);
        _exit(1);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static const struct {
    const char *name;
    void (*call)(void);
    int forks; /* before it is called */
} ways[] = {
    {"execve", by_execve, 1},       {"execve, a copy", by_execve_copy, 1}, {"execv", by_execv, 1},
    {"execvp", by_execvp, 1},       {"execvpe", by_execvpe, 1},            {"execl", by_execl, 1},
    {"execlp", by_execlp, 1},       {"execle", by_execle, 1},              {"fexecve", by_fexecve, 1},
    {"system", by_system, 0},       {"popen", by_popen, 0},                {"posix_spawn", by_posix_spawn, 0},
    {"spawn, a copy", by_posix_spawn_copy, 0}, {"posix_spawnp", by_posix_spawnp, 0}, {"vfork", by_vfork, 0},
};

static int is_of_interest(const char *line)
{
    static const char *const begins[] = {"WS_", "LD_PRELOAD=", "LD_LIBRARY_PATH=", "OMP_", "GOMP_", "KMP_"};
    for (unsigned i = 0; i < sizeof begins / sizeof *begins; i++)
        if (strncmp(line, begins[i], strlen(begins[i])) == 0)
            return 1;
    return 0;
}

/* As a library or a language's runtime has one that it made at its start. */
static void copy_environment(void)
{
    int count = 0;
    while (environ[count])
        count++;
    copy = calloc((size_t) count + 1, sizeof *copy);
    for (int i = 0; i < count; i++)
        copy[i] = strdup(environ[i]);
}

static void start(int way)
{
    FILE *output = tmpfile();
    char line[65536];
    fflush(stdout);
    const int own = dup(1);
    dup2(fileno(output), 1);
    if (!ways[way].forks) {
        ways[way].call();
    } else {
        int status = -1;
        pid_t child = fork();
        if (child == 0) {
            ways[way].call();
            _exit(1);
        }
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    dup2(own, 1);
    close(own);
    rewind(output);
    while (fgets(line, sizeof line, output))
        if (is_of_interest(line))
            printf("%s: %s", ways[way].name, line);
    fclose(output);
}

static void tell(void)
{
    const char *told = getenv("OMP_NUM_THREADS");
    int threads = 0;
#ifdef _OPENMP
    threads = omp_get_max_threads();
#endif
    printf("rank %d: OMP_NUM_THREADS %s, threads %d\n", rank, told ? told : "unset", threads);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    copy_environment();
    begin(&argc, &argv);
    if (strcmp(what, "tell") == 0)
        tell();
    if (rank == 0 && strcmp(what, "set") == 0) {
        char number[16];
        const char *told = getenv("OMP_NUM_THREADS");
        snprintf(number, sizeof number, "%s", told && *told ? told : "5");
        setenv("OMP_NUM_THREADS", number, 1);
        printf("set to %s\n", number);
    }
    if (rank == 0 && (strcmp(what, "start") == 0 || strcmp(what, "set") == 0))
        for (unsigned i = 0; i < sizeof ways / sizeof *ways; i++)
            start((int) i);
    return end();
}
