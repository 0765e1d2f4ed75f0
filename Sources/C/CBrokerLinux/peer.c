#define _GNU_SOURCE
#include "peer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// Debian 12's headers have neither; the numbers are the same on every architecture that Swift supports.
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif
#ifndef SO_PEERSEC
#define SO_PEERSEC 31
#endif
#ifndef RESOLVE_CACHED
#define RESOLVE_CACHED 0x20
#endif

int broker_hold_process(pid_t pid) { return pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1; }

static int hold_process(int descriptor, pid_t pid) {
    int process = -1;
    socklen_t length = sizeof process;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERPIDFD, &process, &length) == 0) {
        return length == sizeof process ? process : -1;
    }
    // EINVAL or ESRCH: the process is gone, and its id may be reused. Only a kernel without the option leaves the id as a
    // fallback.
    return errno == ENOPROTOOPT ? broker_hold_process(pid) : -1;
}

int broker_read_peer(int descriptor, struct broker_peer *peer) {
    memset(peer, 0, sizeof *peer);
    peer->process = -1;

    struct ucred credentials;
    socklen_t length = sizeof credentials;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return errno;
    if (length != sizeof credentials) return EPROTO;
    peer->uid = credentials.uid;
    peer->gid = credentials.gid;
    peer->pid = credentials.pid;
    peer->process = hold_process(descriptor, credentials.pid);

    // The kernel does not guarantee a zero byte at the end.
    length = sizeof peer->label - 1;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERSEC, peer->label, &length) == 0 && length < sizeof peer->label) {
        peer->label[length] = '\0';
    } else {
        peer->label[0] = '\0';
        peer->label_error = errno == ENOPROTOOPT ? 0 : errno;
    }
    return 0;
}

int broker_open_folder(int folder, const char *name) {
    int opened = openat(folder, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return opened >= 0 ? opened : -errno;
}

int broker_open_place(int folder, const char *name) {
    struct open_how how = {
        .flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
        .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_CACHED,
    };
    long opened = syscall(SYS_openat2, folder, name, &how, sizeof how);
    if (opened >= 0) return (int)opened;
    // A filter of the unit may return EPERM, which the call itself returns for other flags only.
    return errno == EPERM ? -ENOSYS : -errno;
}

int broker_open_place_asking(int folder, const char *name) {
    int opened = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    return opened >= 0 ? opened : -errno;
}

int broker_describe_root(int process, struct broker_root *root) {
    struct statx status;
    if (statx(process, "root", AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_MNT_ID, &status) != 0) return errno;
    if (!(status.stx_mask & STATX_MNT_ID) || !(status.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT)) return ENOSYS;
    root->is_mount = (status.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
    root->mount = status.stx_mnt_id;
    return 0;
}

int broker_describe(int folder, const char *name, struct broker_file *file) {
    struct statx status;
    int flags = AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT | (*name == '\0' ? AT_EMPTY_PATH : 0);
    if (statx(folder, name, flags, STATX_TYPE | STATX_MODE | STATX_UID | STATX_INO | STATX_MNT_ID, &status) != 0) {
        return errno;
    }
    file->device_major = status.stx_dev_major;
    file->device_minor = status.stx_dev_minor;
    file->inode = status.stx_ino;
    file->mount = status.stx_mask & STATX_MNT_ID ? status.stx_mnt_id : 0;
    file->uid = status.stx_uid;
    file->mode = status.stx_mode;
    return 0;
}
