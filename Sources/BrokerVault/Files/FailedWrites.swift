import Glibc

/// Whether a failed write means what a full disk means: quotas, file size limits and the last inode stop it as well.
package func meansFull(_ systemError: Int32) -> Bool {
    systemError == ENOSPC || systemError == EDQUOT || systemError == EFBIG
}

/// The advice for a read-only file system.
package func readOnlyText(_ path: String) -> String {
    "The file system of \(path) is read-only. If a disk error caused this (see dmesg), fix that first; then mount it "
        + "for writing again: mount -o remount,rw. If it is the broker's unit (ProtectSystem=), name the folder in that (ReadWritePaths=)"
}
