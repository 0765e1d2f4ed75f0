#define _GNU_SOURCE
#include "stream.h"

#include "direct.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

// Room for the writer's credentials only: the kernel reports truncation, and installs no descriptors.
union writer_room {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(struct ucred))];
};

int broker_accept(int listener) {
    int accepted = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    return accepted >= 0 ? accepted : -errno;
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

int broker_refuse_descriptors(int descriptor) {
    int off = 0;
    return setsockopt(descriptor, SOL_SOCKET, SO_PASSRIGHTS, &off, sizeof off) == 0 ? 0 : errno;
}

ssize_t broker_look_for_descriptors(int descriptor, void *bytes, size_t size) {
    union writer_room room;
    struct iovec part = {.iov_base = bytes, .iov_len = size};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof room,
    };
    ssize_t count = recvmsg(descriptor, &message, MSG_PEEK | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (count < 0) return -errno;
    return message.msg_flags & MSG_CTRUNC ? -EBADMSG : count;
}

ssize_t broker_receive(int descriptor, void *bytes, size_t size, struct broker_writer *writer) {
    union writer_room room;
    struct iovec part = {.iov_base = bytes, .iov_len = size};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof room,
    };
    writer->pid = 0;
    writer->uid = (uid_t)-1;
    writer->gid = (gid_t)-1;
    ssize_t count = direct_recvmsg(descriptor, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (count < 0) return -errno;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header != NULL && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_CREDENTIALS) {
        struct ucred credentials;
        memcpy(&credentials, CMSG_DATA(header), sizeof credentials);
        writer->pid = credentials.pid;
        writer->uid = credentials.uid;
        writer->gid = credentials.gid;
    }
    return count;
}

ssize_t broker_send(int descriptor, const void *bytes, size_t size) {
    ssize_t count = direct_send(descriptor, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    return count >= 0 ? count : -errno;
}
