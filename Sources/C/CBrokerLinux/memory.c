#include "memory.h"

#include <malloc.h>

void broker_release_memory(void) {
    malloc_trim(0);
}
