#define _GNU_SOURCE
#include "loopback.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// The peer's socket: its own address first, the other end second. Ports and addresses stay in network order.
static int name_socket(const struct sockaddr *peer, const struct sockaddr *own, struct inet_diag_sockid *id) {
    memset(id, 0, sizeof *id);
    id->idiag_cookie[0] = id->idiag_cookie[1] = INET_DIAG_NOCOOKIE;
    if (peer->sa_family != own->sa_family) return EINVAL;
    if (peer->sa_family == AF_INET) {
        const struct sockaddr_in *from = (const void *)peer, *to = (const void *)own;
        id->idiag_sport = from->sin_port;
        id->idiag_dport = to->sin_port;
        memcpy(id->idiag_src, &from->sin_addr, sizeof from->sin_addr);
        memcpy(id->idiag_dst, &to->sin_addr, sizeof to->sin_addr);
        return 0;
    }
    if (peer->sa_family == AF_INET6) {
        const struct sockaddr_in6 *from = (const void *)peer, *to = (const void *)own;
        id->idiag_sport = from->sin6_port;
        id->idiag_dport = to->sin6_port;
        memcpy(id->idiag_src, &from->sin6_addr, sizeof from->sin6_addr);
        memcpy(id->idiag_dst, &to->sin6_addr, sizeof to->sin6_addr);
        return 0;
    }
    return EAFNOSUPPORT;
}

static int read_answer(int kernel, uint32_t *uid) {
    union {
        struct nlmsghdr header;
        char bytes[1024];
    } answer;
    // The kernel answers during the request.
    ssize_t length = recv(kernel, &answer, sizeof answer, MSG_DONTWAIT);
    if (length < 0) return errno;
    if (!NLMSG_OK(&answer.header, (size_t)length)) return EPROTO;
    size_t body = answer.header.nlmsg_len - NLMSG_HDRLEN;
    if (answer.header.nlmsg_type == NLMSG_ERROR) {
        const struct nlmsgerr *error = NLMSG_DATA(&answer.header);
        return body >= sizeof *error && error->error < 0 ? -error->error : EPROTO;
    }
    const struct inet_diag_msg *found = NLMSG_DATA(&answer.header);
    if (answer.header.nlmsg_type != SOCK_DIAG_BY_FAMILY || body < sizeof *found) return EPROTO;
    // A socket that its process has closed is reported as root's.
    if (found->idiag_inode == 0) return ENOENT;
    *uid = found->idiag_uid;
    return 0;
}

int broker_loopback_peer_uid(int descriptor, uint32_t *uid) {
    struct sockaddr_storage peer, own;
    socklen_t peer_length = sizeof peer, own_length = sizeof own;
    if (getpeername(descriptor, (struct sockaddr *)&peer, &peer_length) < 0) return errno;
    if (getsockname(descriptor, (struct sockaddr *)&own, &own_length) < 0) return errno;
    struct {
        struct nlmsghdr header;
        struct inet_diag_req_v2 request;
    } question;
    memset(&question, 0, sizeof question);
    int status = name_socket((struct sockaddr *)&peer, (struct sockaddr *)&own, &question.request.id);
    if (status != 0) return status;
    question.header.nlmsg_len = sizeof question;
    question.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
    question.header.nlmsg_flags = NLM_F_REQUEST;
    question.request.sdiag_family = (uint8_t)peer.ss_family;
    question.request.sdiag_protocol = IPPROTO_TCP;
    question.request.idiag_states = ~0U;
    int kernel = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (kernel < 0) return errno;
    status = send(kernel, &question, sizeof question, 0) < 0 ? errno : read_answer(kernel, uid);
    close(kernel);
    return status;
}
