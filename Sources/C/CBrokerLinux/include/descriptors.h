#pragma once

// Tables of descriptors beside the process's, in which no client's connection is.
//
// Whoever makes such a table copies what is below 64, whatever it asks for: the kernel copies tables by words of 64
// descriptors. A copy of a connection can be the last, and its end take hours: what a client sent and nobody read waits in it
// (SO_LINGER). So connections get no low numbers.

/// Numbers below it are the process's own, once they are kept: what it opened before, and /dev/null.
enum { BROKER_OWN_DESCRIPTORS = 64 };

/// Keeps the low numbers that are free, so that nothing opened from now on has one. To be called before anybody can connect. Returns
/// 0 or an errno value: EMFILE where the process may have a few hundred at most, which others need.
int broker_keep_low_descriptors(void);

/// Gives the calling thread a table of its own with 0 to 2 only. No connection is copied for it, even for a moment.
/// Returns 0 or an errno value.
int broker_leave_descriptors(void);

/// Closes a Unix socket so that nothing lingers that waits in it: the kernel lingers for no thread that ends. Returns when it is
/// closed: not for a thread that others need.
void broker_close_in_own_fd_table(int descriptor);
