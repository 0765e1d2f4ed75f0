#pragma once

// Process attributes whose calls are variadic or need constants that Swift does not see.
// Every function returns 0 or an errno value, unless it says otherwise.

/// Forbids core dumps and ptrace by the same user, and makes root the owner of /proc/PID (prctl(2), PR_SET_DUMPABLE).
int broker_forbid_inspection(void);

/// Whether the process can still be inspected: 1 or 0, from PR_GET_DUMPABLE.
int broker_is_open_to_inspection(void);

/// Sets RLIMIT_CORE, soft and hard, to 0, which is effective even if a piped core_pattern ignores PR_SET_DUMPABLE.
int broker_forbid_core_dumps(void);

/// Prevents child processes from gaining privileges by a set-id bit or file capabilities (PR_SET_NO_NEW_PRIVS).
int broker_forbid_new_privileges(void);

/// Locks pages as they are touched, now and later. Does nothing and returns EPERM unless RLIMIT_MEMLOCK is unlimited:
/// under a limit a later allocation would fail instead, and end the process.
int broker_lock_memory(void);

/// Raises the soft limit of descriptors to `wanted`, as far as the hard limit allows. Returns the resulting limit, 0 if it is
/// unknown.
long broker_allow_descriptors(long wanted);
