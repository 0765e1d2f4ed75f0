#pragma once

#include <stddef.h>
#include <sys/types.h>

// Bytes of a Unix stream socket, with what comes beside them (unix(7), "Ancillary messages").

enum {
    BROKER_MOST_DESCRIPTORS = 2,
    /// In one message (SCM_MAX_FD).
    BROKER_MOST_SENT = 253,
};

/// What the kernel says beside the bytes.
struct broker_beside {
    /// Who wrote them; pid 0, and a uid that is nobody's, where the kernel did not say.
    pid_t pid;
    uid_t uid;
    gid_t gid;
    /// Descriptors that came along, the caller's from now on. More than BROKER_MOST_DESCRIPTORS are no use, and to be
    /// closed as any other that a peer sent.
    int count;
    int descriptors[BROKER_MOST_SENT];
};

/// Accepts without waiting; what is accepted never blocks, and is not inherited. Returns a descriptor, or minus an errno
/// value.
int broker_accept(int listener);

/// The same, but waits for somebody to connect, and while the system has no room: for a thread that nobody waits for.
int broker_accept_waiting(int listener);

/// Returns 0 or an errno value.
int broker_make_nonblocking(int descriptor);

/// From now on the kernel says with bytes who wrote them. A listener hands this on to what it accepts, so that it holds for
/// the first byte. Returns 0 or an errno value.
int broker_ask_who_writes(int descriptor);

/// 1 when that was asked for, else 0.
int broker_asks_who_writes(int descriptor);

/// From now on nobody sends descriptors to the socket, where the kernel knows how to refuse them (Linux 6.16). Returns 0 or
/// an errno value.
int broker_refuse_descriptors(int descriptor);

/// Looks at what would be read next, which stays there and none of whose descriptors is taken. Returns the number of bytes
/// that can be read without coming upon descriptors, 0 at the end, or minus an errno value: EBADMSG when some are next.
ssize_t broker_look_for_descriptors(int descriptor, void *bytes, size_t size);

/// Closes what a peer sent, or a socket in which something sent waits. That lingers nowhere (SO_LINGER), neither here nor in
/// what waits in a Unix socket; but a file system can wait as long as it likes: not for a thread that others need.
void broker_close_sent(int descriptor);

/// Whether the descriptor is a pipe, or a Unix socket: what tells when its other end is gone. No file system is asked.
int broker_hangs_up(int descriptor);

/// Reads without waiting. Returns the number of bytes, 0 at the end, or minus an errno value.
ssize_t broker_receive(int descriptor, void *bytes, size_t size, struct broker_beside *beside);

/// Writes without waiting, and without a signal when nobody reads any more. Returns the number of bytes taken, or minus an
/// errno value.
ssize_t broker_send(int descriptor, const void *bytes, size_t size);
