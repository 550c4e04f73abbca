/* SPDX-License-Identifier: MIT
 *
 * interpreter MODULE WORD...: linked with no MPI, loads a module for itself alone, as Python does, and calls its
 * run(). */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *module = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*run)(int, char **) = module ? (int (*)(int, char **)) dlsym(module, "run") : NULL;
    if (!run) {
        fprintf(stderr, "no module: %s\n", argc > 1 ? dlerror() : "no name");
        return 3;
    }
    return run(argc - 1, argv + 1);
}
