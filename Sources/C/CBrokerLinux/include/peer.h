#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// What the kernel fixed about the other end of a Unix stream socket when it connected.
struct broker_peer {
    uid_t uid;
    gid_t gid;
    pid_t pid;
    /// Names the process even after its number was given to another; -1 where the kernel has none (before Linux 6.5).
    /// The caller closes it.
    int process;
    /// The security label (SO_PEERSEC), ended by a zero byte; empty where no security module gives one.
    char label[256];
};

/// Fills `peer` from the connected socket `descriptor`. Returns 0, or an errno value when the credentials cannot be had.
int broker_read_peer(int descriptor, struct broker_peer *peer);
