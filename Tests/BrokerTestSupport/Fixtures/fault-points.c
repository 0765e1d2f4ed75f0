/* Preloaded into a program: counts what it does to the files below one folder, and at a given call ends it or lets that
   call fail. Which, is in a small file that the test maps as well (Processes/FaultPoints.swift). */
#define _GNU_SOURCE
#include "synced-files.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

/* As FaultPoints.Control has it. */
struct control {
    volatile int32_t fault, at, error;
    int32_t seen, struck;
};
enum fault { none, end, tear, fail_once, fail_on, cut_short, hold, power_cut, power_cut_after_names };

static struct control *control;
static char folder[PATH_MAX];

__attribute__((constructor)) static void begin(void) {
    const char *file = getenv("FAULT_CONTROL"), *where = getenv("FAULT_FOLDER");
    if (!file || !where || !realpath(where, folder)) return;
    int descriptor = open(file, O_RDWR | O_CLOEXEC);
    if (descriptor < 0) abort();
    void *mapped = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (mapped == MAP_FAILED) abort();
    close(descriptor);
    const char *keep = getenv("FAULT_SYNCED");
    if (!keep || !(synced = strdup(keep))) abort();
    control = mapped;
}

static int is_inside(const char *path) {
    size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == 0);
}

static int is_watched(int descriptor, const char *name) {
    if (!control || control->fault == none) return 0;
    if (name && name[0] == '/') return is_inside(name);
    char link[64], path[PATH_MAX];
    if (descriptor == AT_FDCWD) snprintf(link, sizeof link, "/proc/self/cwd");
    else snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    int saved = errno;
    ssize_t count = readlink(link, path, sizeof path - 1);
    errno = saved;
    if (count < 0) return 0;
    path[count] = 0;
    return is_inside(path);
}

static int is_power_cut(void) {
    return control->fault == power_cut || control->fault == power_cut_after_names;
}

/* The kinds of calls, as far as faults differ. */
enum kind { writes, grows, changes, syncs };

static int can_fail(enum kind kind) {
    if (control->error == ENOSPC) return kind == writes || kind == grows;
    if (control->error == EROFS) return kind != syncs;
    return 1;
}

/* Whether the fault can strike here. Elsewhere it would do what it does, or a kill or a full disk does, at the next call. */
static int is_step(enum kind kind) {
    switch ((enum fault)control->fault) {
    case tear:
    case cut_short: return kind == writes;
    case fail_once:
    case fail_on: return can_fail(kind);
    default: return 1;
    }
}

/* Counts a call. 1: it is to be cut in half; -1: it fails, errno is set; 0: it goes on. Or the process ends here. */
static int step(enum kind kind) {
    if (is_power_cut()) begin_keeping(folder);
    int is_first = is_step(kind) && __atomic_add_fetch(&control->seen, 1, __ATOMIC_SEQ_CST) == control->at;
    if (is_first) __atomic_store_n(&control->struck, 1, __ATOMIC_SEQ_CST);
    if (!__atomic_load_n(&control->struck, __ATOMIC_SEQ_CST)) return 0;
    switch ((enum fault)control->fault) {
    case none: return 0;
    case power_cut_after_names:
        if (is_first) keep_names(folder);
        /* fall through */
    case end:
    case power_cut:
        if (is_first) kill(getpid(), SIGKILL);
        return 0;
    case tear: return is_first;
    case cut_short:
        if (is_first) return 1;
        break;
    case fail_once:
        if (!is_first) return 0;
        break;
    case fail_on: break;
    case hold:
        while (control->fault == hold) usleep(1000);
        return 0;
    }
    if (!can_fail(kind)) return 0;
    errno = control->error;
    return -1;
}

/* After half of a write. */
static void torn(void) {
    if (control->fault == tear) kill(getpid(), SIGKILL);
}

#define REAL(name) ((__typeof__(&name))real(#name))
static void *real(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) abort();
    return found;
}

#define WRITE(name, declaration, whole, half)                  \
    ssize_t name declaration {                                 \
        int what = is_watched(fd, NULL) ? step(writes) : 0;    \
        if (what < 0) return -1;                               \
        if (what == 0) return REAL(name) whole;                \
        ssize_t written = count < 2 ? REAL(name) whole : REAL(name) half; \
        torn();                                                \
        return written;                                        \
    }
WRITE(write, (int fd, const void *bytes, size_t count), (fd, bytes, count), (fd, bytes, count / 2))
WRITE(pwrite, (int fd, const void *bytes, size_t count, off_t at), (fd, bytes, count, at), (fd, bytes, count / 2, at))
WRITE(pwrite64, (int fd, const void *bytes, size_t count, off64_t at), (fd, bytes, count, at), (fd, bytes, count / 2, at))
WRITE(writev, (int fd, const struct iovec *bytes, int count), (fd, bytes, count), (fd, bytes, count / 2))

#define CALL(name, kind, watched, declaration, arguments)          \
    int name declaration {                                         \
        if (watched && step(kind) < 0) return -1;                  \
        return REAL(name) arguments;                               \
    }

#define SYNC(name)                                             \
    int name(int fd) {                                         \
        int is_ours = is_watched(fd, NULL);                    \
        if (is_ours && step(syncs) < 0) return -1;             \
        int result = REAL(name)(fd);                           \
        if (is_ours && result == 0 && is_power_cut()) keep_synced(fd); \
        return result;                                         \
    }
SYNC(fsync)
SYNC(fdatasync)

CALL(ftruncate, changes, is_watched(fd, NULL), (int fd, off_t length), (fd, length))
CALL(ftruncate64, changes, is_watched(fd, NULL), (int fd, off64_t length), (fd, length))
CALL(fallocate, grows, is_watched(fd, NULL), (int fd, int mode, off_t at, off_t length), (fd, mode, at, length))
CALL(unlink, changes, is_watched(AT_FDCWD, name), (const char *name), (name))
CALL(unlinkat, changes, is_watched(at, name), (int at, const char *name, int flags), (at, name, flags))
CALL(rename, changes, is_watched(AT_FDCWD, to), (const char *from, const char *to), (from, to))
CALL(renameat, changes, is_watched(at, to), (int old, const char *from, int at, const char *to), (old, from, at, to))
CALL(renameat2, changes, is_watched(at, to), (int old, const char *from, int at, const char *to, unsigned flags),
     (old, from, at, to, flags))
CALL(linkat, grows, is_watched(at, to), (int old, const char *from, int at, const char *to, int flags),
     (old, from, at, to, flags))
CALL(symlinkat, grows, is_watched(at, to), (const char *target, int at, const char *to), (target, at, to))
CALL(mkdir, grows, is_watched(AT_FDCWD, name), (const char *name, mode_t mode), (name, mode))
CALL(mkdirat, grows, is_watched(at, name), (int at, const char *name, mode_t mode), (at, name, mode))

/* Opening counts where it makes a file. */
#define OPEN(name, directory, declaration, arguments)                                          \
    int name declaration {                                                                     \
        va_list rest;                                                                          \
        va_start(rest, flags);                                                                 \
        mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0;              \
        va_end(rest);                                                                          \
        if (flags & O_CREAT && is_watched(directory, path) && step(grows) < 0) return -1;      \
        return REAL(name) arguments;                                                           \
    }
OPEN(open, AT_FDCWD, (const char *path, int flags, ...), (path, flags, mode))
OPEN(open64, AT_FDCWD, (const char *path, int flags, ...), (path, flags, mode))
OPEN(openat, at, (int at, const char *path, int flags, ...), (at, path, flags, mode))
OPEN(openat64, at, (int at, const char *path, int flags, ...), (at, path, flags, mode))
