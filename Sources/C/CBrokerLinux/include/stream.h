#pragma once

#include <stddef.h>
#include <sys/types.h>

// Bytes of a Unix stream socket, with their writer (unix(7), "Ancillary messages"). Descriptors are never received.

/// The process that wrote the bytes; pid 0 and an invalid uid if the kernel did not report it.
struct broker_writer {
    pid_t pid;
    uid_t uid;
    gid_t gid;
};

/// Accepts without waiting; the new socket is non-blocking and close-on-exec. Returns a descriptor, or minus an errno value.
int broker_accept(int listener);

/// Makes the descriptor non-blocking. Returns 0 or an errno value.
int broker_make_nonblocking(int descriptor);

/// Has the kernel report the writer of received bytes (SO_PASSCRED). Accepted sockets inherit this from the listener, so that it
/// applies to the first byte. Returns 0 or an errno value.
int broker_ask_who_writes(int descriptor);

/// Whether the kernel reports the writer: 1 or 0.
int broker_asks_who_writes(int descriptor);

/// Has the socket refuse descriptors, if the kernel supports that (SO_PASSRIGHTS, Linux 6.16). Returns 0 or an errno value.
int broker_refuse_descriptors(int descriptor);

/// Peeks at the next bytes, without taking descriptors that come with them. Returns the number of bytes that can be read before
/// the next descriptors, 0 at the end, or minus an errno value: EBADMSG if descriptors are next.
ssize_t broker_look_for_descriptors(int descriptor, void *bytes, size_t size);

/// Reads without waiting the bytes that were peeked at, or any bytes after descriptors were refused. Returns the number of bytes,
/// 0 at the end, or minus an errno value.
ssize_t broker_receive(int descriptor, void *bytes, size_t size, struct broker_writer *writer);

/// Writes without waiting, and without SIGPIPE if the reader is gone. Returns the number of bytes written, or minus an errno
/// value.
ssize_t broker_send(int descriptor, const void *bytes, size_t size);
