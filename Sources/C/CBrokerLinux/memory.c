#define _GNU_SOURCE
#include "memory.h"

#include <link.h>
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/// Read-only segments are identical to their file. Relocated data is in segments that were writable before, and is left alone.
static int release_segments(struct dl_phdr_info *object, size_t size, void *nothing) {
    (void)size;
    (void)nothing;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (int index = 0; index < object->dlpi_phnum; index++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[index];
        if (segment->p_type != PT_LOAD || segment->p_flags & PF_W) continue;
        uintptr_t start = (object->dlpi_addr + segment->p_vaddr) & ~(page - 1);
        size_t length = object->dlpi_addr + segment->p_vaddr + segment->p_memsz - start;
        // If all memory is locked, these pages need not be: a program's file contains no secrets.
        munlock((void *)start, length);
        madvise((void *)start, length, MADV_DONTNEED);
    }
    return 0;
}

void broker_release_memory(void) {
    malloc_trim(0);
    dl_iterate_phdr(release_segments, NULL);
}
