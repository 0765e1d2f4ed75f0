#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// The kernel's data about the other end of a Unix stream socket, fixed when it connected.
struct broker_peer {
    uid_t uid;
    gid_t gid;
    pid_t pid;
    /// Refers to the process even after its id was reused; -1 if it is not available. The caller closes it.
    int process;
    /// 0, or the errno of a failure to read the label although a security module has one.
    int label_error;
    /// The security label (SO_PEERSEC), terminated by a zero byte; empty if no security module provides one.
    char label[1024];
};

/// Fills `peer` from the connected socket `descriptor`. Returns 0, or an errno value if the credentials cannot be read.
///
/// If the kernel has no SO_PEERPIDFD (before Linux 6.5) the process is looked up by its id: call it right after accept, before
/// the id can be reused.
int broker_read_peer(int descriptor, struct broker_peer *peer);

/// A pidfd of the process that has the id now; negative if there is none. The caller closes it.
int broker_hold_process(pid_t pid);

/// A file, with the facts about who can change it.
struct broker_file {
    uint32_t device_major;
    uint32_t device_minor;
    uint64_t inode;
    /// The mount through which it was reached: the first number of a line of mountinfo.
    uint64_t mount;
    uid_t uid;
    mode_t mode;
};

/// Opens a folder with O_PATH, following links. Returns a descriptor, or minus an errno value.
int broker_open_folder(int folder, const char *name);

/// Opens `name` below the folder `folder` with O_PATH, from the kernel's cache of names: without following links or accessing a
/// file system, so that a hanging one cannot block the broker. Returns a descriptor, or minus an errno value; EAGAIN if the name
/// is not in the cache, ENOSYS if openat2 is not available: systemd's RestrictSUIDSGID= blocks it.
int broker_open_place(int folder, const char *name);

/// The same without openat2: it may access the folder's file system.
int broker_open_place_asking(int folder, const char *name);

/// The root directory of the process.
struct broker_root {
    /// Whether a mount begins there; it does not after chroot(2) into some folder.
    bool is_mount;
    /// The first number of a line of mountinfo.
    uint64_t mount;
};

/// Examines the root of the process with this /proc folder: requires the right to ptrace it, and accesses no file system. Returns
/// 0 or an errno value; ENOSYS from a kernel without support (before Linux 5.8).
int broker_describe_root(int process, struct broker_root *root);

/// Describes the file to which `name` below `folder` leads, following links, or `folder` itself if `name` is empty; without
/// accessing another file system. Returns 0 or an errno value.
int broker_describe(int folder, const char *name, struct broker_file *file);
