#define _GNU_SOURCE
#include "CTestSupport.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

int test_take_descriptor(int descriptor) {
    // The first thread's table is the process's.
    int process = (int)syscall(SYS_pidfd_open, getpid(), 0);
    if (process < 0) return -errno;
    int taken = (int)syscall(SYS_pidfd_getfd, process, descriptor, 0);
    int result = taken >= 0 ? taken : -errno;
    close(process);
    return result;
}
