#pragma once

/// What the program was started with, as `main` gets it.
struct broker_arguments {
    int count;
    char *const *words;
};

struct broker_arguments broker_arguments(void);
