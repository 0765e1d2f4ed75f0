#pragma once

// System calls of every request, made directly. The library's functions are cancellation points, which costs two atomic
// operations each. No thread is cancelled here.

#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

struct epoll_event;

static inline ssize_t direct_recvmsg(int socket, struct msghdr *message, int flags) {
    return syscall(SYS_recvmsg, socket, message, flags);
}

static inline ssize_t direct_send(int socket, const void *bytes, size_t size, int flags) {
    return syscall(SYS_sendto, socket, bytes, size, flags, NULL, 0);
}

static inline int direct_epoll_wait(int events, struct epoll_event *found, int most, int milliseconds) {
    // Without a signal mask, its size does not matter.
    return (int)syscall(SYS_epoll_pwait, events, found, most, milliseconds, NULL, 0);
}
