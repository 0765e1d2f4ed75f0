#define _GNU_SOURCE
#include "stream.h"

#include "descriptors.h"
#include "direct.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif
#ifndef SCM_PIDFD
#define SCM_PIDFD 4
#endif

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

int broker_refuse_descriptors(int descriptor) {
    int off = 0;
    return setsockopt(descriptor, SOL_SOCKET, SO_PASSRIGHTS, &off, sizeof off) == 0 ? 0 : errno;
}

ssize_t broker_look_for_descriptors(int descriptor, void *bytes, size_t size) {
    // Room for who wrote them, and for nothing else: the kernel says that something was left out, and opens nothing.
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(struct ucred))];
    } room;
    struct iovec part = {.iov_base = bytes, .iov_len = size};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof room,
    };
    ssize_t count = recvmsg(descriptor, &message, MSG_PEEK | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (count < 0) return -errno;
    return message.msg_flags & MSG_CTRUNC ? -EBADMSG : count;
}

void broker_close_sent(int descriptor) {
    int domain = 0;
    socklen_t length = sizeof domain;
    if (getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 && domain == AF_UNIX) {
        broker_close_leaving(descriptor);
        return;
    }
    struct linger at_once = {.l_onoff = 0};
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(descriptor);
}

int broker_hangs_up(int descriptor) {
    int domain = 0;
    socklen_t length = sizeof domain;
    if (getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0) return domain == AF_UNIX;
    return fcntl(descriptor, F_GETPIPE_SZ) >= 0;
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
            if (beside->count < BROKER_MOST_SENT) beside->descriptors[beside->count++] = descriptor;
        }
    } else if (header->cmsg_type == SCM_PIDFD && size == sizeof(int)) {
        // Whoever shares a listener can ask for it.
        int process;
        memcpy(&process, CMSG_DATA(header), sizeof process);
        if (process >= 0) close(process);
    }
}

ssize_t broker_receive(int descriptor, void *bytes, size_t size, struct broker_beside *beside) {
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(int)) + CMSG_SPACE(BROKER_MOST_SENT * sizeof(int))];
    } room;
    struct iovec part = {.iov_base = bytes, .iov_len = size};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof room,
    };
    beside->pid = 0;
    beside->uid = (uid_t)-1;
    beside->gid = (gid_t)-1;
    beside->count = 0;
    ssize_t count = direct_recvmsg(descriptor, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (count < 0) return -errno;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header != NULL; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level == SOL_SOCKET) take(header, beside);
    }
    return count;
}

ssize_t broker_send(int descriptor, const void *bytes, size_t size) {
    ssize_t count = direct_send(descriptor, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    return count >= 0 ? count : -errno;
}
