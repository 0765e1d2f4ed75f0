import Glibc

/// The file a process runs. A hint: a process can exec another one after it connected, and an interpreter's script is
/// not in it.
struct PeerExecutable {
    var path: String
    /// Only root can have put it there, or can change it.
    var isRootOwned: Bool

    /// Nil when the path does not lead us to the very file that the peer runs: the file was replaced since, or the peer
    /// sees other mounts, where any path can be had for the asking.
    init?(of process: borrowing ProcessFolder) {
        var status = stat()
        guard let path = process.link("exe"), lstat(path, &status) == 0,
            process.fileIdentity("exe") == FileIdentity(status)
        else { return nil }
        self.path = path
        isRootOwned = Self.onlyRootCanChange(path)
    }

    /// Whether the file and every folder above it belong to root and are writable for nobody else. A symbolic link
    /// anywhere in the path does not pass.
    static func onlyRootCanChange(_ path: String) -> Bool {
        guard path.hasPrefix("/") else { return false }
        var folder = ""
        guard isRoots("/", kind: S_IFDIR) else { return false }
        let parts = path.split(separator: "/")
        for (index, part) in parts.enumerated() {
            folder += "/" + part
            guard isRoots(folder, kind: index == parts.count - 1 ? S_IFREG : S_IFDIR) else { return false }
        }
        return !parts.isEmpty
    }

    private static func isRoots(_ path: String, kind: mode_t) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == kind && status.st_uid == 0
            && status.st_mode & (S_IWGRP | S_IWOTH) == 0
    }
}
