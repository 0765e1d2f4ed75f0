#define _GNU_SOURCE
#include "peer.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

// Debian 12's headers know neither; the numbers are the same on every architecture Swift runs on.
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif
#ifndef SO_PEERSEC
#define SO_PEERSEC 31
#endif

int broker_read_peer(int descriptor, struct broker_peer *peer) {
    memset(peer, 0, sizeof *peer);
    peer->process = -1;

    struct ucred credentials;
    socklen_t length = sizeof credentials;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) {
        return errno;
    }
    if (length != sizeof credentials) {
        return EPROTO;
    }
    peer->uid = credentials.uid;
    peer->gid = credentials.gid;
    peer->pid = credentials.pid;

    int process = -1;
    length = sizeof process;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERPIDFD, &process, &length) == 0 && length == sizeof process) {
        peer->process = process;
    }

    // The kernel does not promise a zero byte at the end, and a label that does not fit is none.
    length = sizeof peer->label - 1;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERSEC, peer->label, &length) == 0
        && length < sizeof peer->label) {
        peer->label[length] = '\0';
    } else {
        peer->label[0] = '\0';
    }
    return 0;
}
