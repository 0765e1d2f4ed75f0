#include "CArguments.h"

static struct broker_arguments arguments;

// glibc calls the functions of .init_array with the arguments of main.
__attribute__((constructor)) static void keep(int count, char **words) {
    arguments = (struct broker_arguments){count, words};
}

struct broker_arguments broker_arguments(void) { return arguments; }
