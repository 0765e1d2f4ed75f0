#include "include/CWipingHeap.h"

#include <errno.h>
#include <malloc.h>
#include <stddef.h>
#include <string.h>

// A sanitizer has its own heap.
#if !__has_feature(thread_sanitizer) && !__has_feature(address_sanitizer)

// glibc's own functions under the names that it exports for replacements such as these. Blocks come from glibc's malloc and
// return to it; before that they are wiped.
extern void *__libc_malloc(size_t size);
extern void __libc_free(void *block);

__attribute__((visibility("default"))) void free(void *block) {
    if (!block) return;
    // free(3) leaves errno unchanged.
    int number = errno;
    explicit_bzero(block, malloc_usable_size(block));
    __libc_free(block);
    errno = number;
}

/// glibc would move a block and free the old one internally, without wiping it.
__attribute__((visibility("default"))) void *realloc(void *block, size_t size) {
    if (!block) return __libc_malloc(size);
    if (size == 0) {
        free(block);
        return NULL;
    }
    size_t old = malloc_usable_size(block);
    if (size <= old && size >= old / 2) return block;
    void *grown = __libc_malloc(size);
    if (!grown) return NULL;
    memcpy(grown, block, old < size ? old : size);
    free(block);
    return grown;
}

#endif
