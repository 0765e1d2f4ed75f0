import CBrokerLinux
import Glibc

/// The executable of a process. It is a hint: a process can exec another one after it connected, and the script of an interpreter
/// is not included.
struct PeerExecutable {
    var path: String
    /// Whether only root can have installed or can change it, and it does not run programs of others.
    var isRootOwned = false

    /// Creates the executable; `nil` if the path does not lead to the very file that the peer runs: the file was replaced since, or
    /// can only be found by asking a file system. The answer might never come (a stopped FUSE server), so the path is looked up in
    /// the kernel's name cache alone: as the file is running, its names are there.
    init?(of process: borrowing ProcessFolder) {
        guard let path = process.link("exe").value, path.hasPrefix("/") else { return nil }
        var running = broker_file()
        guard broker_describe(process.descriptor, "exe", &running) == 0 else { return nil }
        guard let (found, chainIsRoots) = Self.walk(path), found.isSame(as: running) else { return nil }
        self.path = path
        isRootOwned = chainIsRoots && running.isRegular && !running.isSetID && !Interpreter.isNamed(by: path)
    }

    /// - Returns: the file at the path's end, and whether it and every folder on the way belong to root and are writable for no one
    ///   else.
    private static func walk(_ path: String) -> (file: broker_file, chainIsRoots: Bool)? {
        guard let root = PathHandle.root() else { return nil }
        var chainIsRoots = root.file.onlyRootCanChange
        var mounts: LocalMounts?
        let end = root.descend(path) { mount in
            let own = mounts ?? .own()
            mounts = own
            return own.contains(mount)
        } visit: {
            chainIsRoots = chainIsRoots && $0.onlyRootCanChange
        }
        guard let end else { return nil }
        return (end.file, chainIsRoots)
    }
}

extension broker_file {
    fileprivate var isSetID: Bool { mode_t(mode) & (S_ISUID | S_ISGID) != 0 }
    fileprivate var onlyRootCanChange: Bool { uid == 0 && mode_t(mode) & (S_IWGRP | S_IWOTH) == 0 }

    fileprivate func isSame(as other: broker_file) -> Bool {
        device_major == other.device_major && device_minor == other.device_minor && inode == other.inode
    }
}
