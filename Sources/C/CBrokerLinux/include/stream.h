#pragma once

#include <stddef.h>
#include <sys/types.h>

// Bytes of a Unix stream socket, with their writer (unix(7), "Ancillary messages"). Descriptors are never received.

/// The process that wrote the bytes; pid 0, and a uid that is nobody's, where the kernel did not say.
struct broker_writer {
    pid_t pid;
    uid_t uid;
    gid_t gid;
};

/// Accepts without waiting; what is accepted never blocks, and is not inherited. Returns a descriptor, or minus an errno
/// value.
int broker_accept(int listener);

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

/// Reads without waiting what was looked at, or what comes after descriptors were refused. Returns the number of bytes, 0 at the end, or minus an errno value.
ssize_t broker_receive(int descriptor, void *bytes, size_t size, struct broker_writer *writer);

/// Writes without waiting, and without a signal when nobody reads any more. Returns the number of bytes taken, or minus an
/// errno value.
ssize_t broker_send(int descriptor, const void *bytes, size_t size);
