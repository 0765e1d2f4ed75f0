import Glibc

/// `/proc`, which a chroot or a broken container may lack.
package enum ProcFileSystem {
    package static var isMounted: Bool { access("/proc/self/stat", F_OK) == 0 }
}
