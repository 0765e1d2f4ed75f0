#pragma once

#include <stdint.h>

// The owner of the other end of a TCP connection within this machine: the kernel is asked for exactly that socket (sock_diag(7)).
//
// Returns 0, or an errno value: ENOENT if there is no such socket (any more).
int broker_loopback_peer_uid(int descriptor, uint32_t *uid);
