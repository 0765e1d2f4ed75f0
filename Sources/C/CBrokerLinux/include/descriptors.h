#pragma once

// Descriptor tables that are separate from the process's, and contain no connection of a client.
//
// Making such a table always copies the descriptors below 64: the kernel copies tables by words of 64 descriptors. A copy of a
// connection can be the last reference, and closing it can take hours: unread data of a client waits in it (SO_LINGER). So
// connections get no low numbers.

/// The first number of connections. Once they are reserved, lower numbers are descriptors that the process opened before, and
/// /dev/null.
enum { BROKER_OWN_DESCRIPTORS = 64 };

/// Reserves the free low numbers, so that nothing opened from now on gets one. Call it before clients can connect. Returns 0 or
/// an errno value: EMFILE if the process may have only a few hundred, which others need.
int broker_keep_low_descriptors(void);

/// Gives the calling thread its own table with 0 to 2 only. No connection is copied for it, even for a moment.
/// Returns 0 or an errno value.
int broker_leave_descriptors(void);

/// Closes a Unix socket without lingering for unread data: the kernel does not linger for a thread that exits. Returns when it is
/// closed: do not call it on a thread that others need.
void broker_close_in_own_fd_table(int descriptor);
