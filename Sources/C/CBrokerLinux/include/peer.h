#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// What the kernel fixed about the other end of a Unix stream socket when it connected.
struct broker_peer {
    uid_t uid;
    gid_t gid;
    pid_t pid;
    /// Names the process even after its number was given to another; -1 when there is none to hold. The caller closes it.
    int process;
    /// 0, or the errno that says why the label could not be had although a security module has one.
    int label_error;
    /// The security label (SO_PEERSEC), ended by a zero byte; empty where no security module gives one.
    char label[1024];
};

/// Fills `peer` from the connected socket `descriptor`. Returns 0, or an errno value when the credentials cannot be had.
///
/// Where the kernel has no SO_PEERPIDFD (before Linux 6.5) the process is held by its number: it must be called right
/// after accept, before the number can be given to another.
int broker_read_peer(int descriptor, struct broker_peer *peer);

/// A handle on the process that has the number now; negative when there is none. The caller closes it.
int broker_hold_process(pid_t pid);

/// One file, as far as it matters who can change it.
struct broker_file {
    uint32_t device_major;
    uint32_t device_minor;
    uint64_t inode;
    /// The mount that it was reached by, as the first number of a line of mountinfo has it.
    uint64_t mount;
    uid_t uid;
    mode_t mode;
};

/// Opens a folder as a place only (O_PATH), links followed. Returns a descriptor, or minus an errno value.
int broker_open_folder(int folder, const char *name);

/// Opens `name` below the folder `folder` as a place only (O_PATH), from the kernel's cache of names: links are not
/// followed, and no file system is asked, so that one that hangs cannot make the broker wait. Returns a descriptor, or
/// minus an errno value; EAGAIN when the name is not in the cache, ENOSYS where openat2 is not to be had: systemd's
/// RestrictSUIDSGID= takes it away.
int broker_open_place(int folder, const char *name);

/// The same without openat2: it may ask the file system of the folder.
int broker_open_place_asking(int folder, const char *name);

/// What the process sees as its root.
struct broker_root {
    /// Whether a mount begins there; it does not after chroot(2) into some folder.
    bool is_mount;
    /// As the first number of a line of mountinfo has it.
    uint64_t mount;
};

/// Looks at the root of the process that the folder of /proc is of: needs the right to ptrace it, and asks no file system.
/// Returns 0 or an errno value; ENOSYS from a kernel that does not tell (before Linux 5.8).
int broker_describe_root(int process, struct broker_root *root);

/// Describes the file that `name` below `folder` leads to, links followed, or that `folder` itself is when `name` is
/// empty; without asking a file system that lies elsewhere. Returns 0 or an errno value.
int broker_describe(int folder, const char *name, struct broker_file *file);
