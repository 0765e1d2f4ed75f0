#define _GNU_SOURCE
#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int broker_accept(int listener) {
    int accepted = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    return accepted >= 0 ? accepted : -errno;
}

int broker_accept_waiting(int listener) {
    for (;;) {
        int accepted = broker_accept(listener);
        switch (-accepted) {
        case EINTR: case ECONNABORTED: case EPROTO: break;
        case EAGAIN: {
            struct pollfd entry = {.fd = listener, .events = POLLIN};
            poll(&entry, 1, -1);
            break;
        }
        case EMFILE: case ENFILE: case ENOBUFS: case ENOMEM: sleep(1); break;
        default: return accepted;
        }
    }
}

int broker_make_nonblocking(int descriptor) {
    int flags = fcntl(descriptor, F_GETFL);
    return flags >= 0 && fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0 ? 0 : errno;
}

int broker_ask_who_writes(int descriptor) {
    int on = 1;
    return setsockopt(descriptor, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) == 0 ? 0 : errno;
}

int broker_asks_who_writes(int descriptor) {
    int on = 0;
    socklen_t length = sizeof on;
    return getsockopt(descriptor, SOL_SOCKET, SO_PASSCRED, &on, &length) == 0 && on != 0;
}

/// The kernel cuts off descriptors that do not fit; half of a set is of no use, and must not stay open.
static void drop_descriptors(struct broker_beside *beside) {
    for (int i = 0; i < beside->count; i++) close(beside->descriptors[i]);
    beside->count = 0;
}

static void take(const struct cmsghdr *header, struct broker_beside *beside) {
    size_t size = header->cmsg_len - CMSG_LEN(0);
    if (header->cmsg_type == SCM_CREDENTIALS && size == sizeof(struct ucred)) {
        struct ucred writer;
        memcpy(&writer, CMSG_DATA(header), sizeof writer);
        beside->pid = writer.pid;
        beside->uid = writer.uid;
        beside->gid = writer.gid;
    } else if (header->cmsg_type == SCM_RIGHTS) {
        for (size_t i = 0; i < size / sizeof(int); i++) {
            int descriptor;
            memcpy(&descriptor, CMSG_DATA(header) + i * sizeof descriptor, sizeof descriptor);
            if (beside->count < BROKER_MOST_DESCRIPTORS) {
                beside->descriptors[beside->count++] = descriptor;
            } else {
                close(descriptor);
            }
        }
    }
}

ssize_t broker_receive(int descriptor, void *bytes, size_t size, struct broker_beside *beside) {
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(BROKER_MOST_DESCRIPTORS * sizeof(int))];
    } room;
    struct iovec part = {.iov_base = bytes, .iov_len = size};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof room,
    };
    beside->pid = 0;
    beside->uid = (uid_t)-1;
    beside->gid = (gid_t)-1;
    beside->count = 0;
    ssize_t count = recvmsg(descriptor, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (count < 0) return -errno;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header != NULL; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level == SOL_SOCKET) take(header, beside);
    }
    if (message.msg_flags & MSG_CTRUNC) drop_descriptors(beside);
    return count;
}

ssize_t broker_send(int descriptor, const void *bytes, size_t size) {
    ssize_t count = send(descriptor, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    return count >= 0 ? count : -errno;
}
