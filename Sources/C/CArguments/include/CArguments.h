#pragma once

/// The program's arguments, as `main` gets them.
struct broker_arguments {
    int count;
    char *const *words;
};

struct broker_arguments broker_arguments(void);
