import BrokerSystem
import CBrokerLinux
import Glibc

/// A file or folder that is held and not opened (O_PATH). It was reached without following a link, and without asking a
/// file system that might never answer, as that of a FUSE server that stopped. While it is held, the id of its mount
/// belongs to no other.
struct PathHandle: ~Copyable {
    private let descriptor: Int32
    let file: broker_file

    /// - Parameter descriptor: becomes this value's own; below zero where there is none.
    private init?(_ descriptor: Int32) {
        guard descriptor >= 0 else { return nil }
        var file = broker_file()
        guard broker_describe(descriptor, "", &file) == 0 else {
            close(descriptor)
            return nil
        }
        (self.descriptor, self.file) = (descriptor, file)
    }

    deinit { close(descriptor) }

    static func root() -> PathHandle? { PathHandle(broker_open_folder(AT_FDCWD, "/")) }

    /// What the process sees as its root.
    static func root(of process: borrowing ProcessFolder) -> PathHandle? {
        PathHandle(broker_open_folder(process.descriptor, "root"))
    }

    /// By the kernel's cache of names alone; where that is not to be had, or does not know the name, only on a mount that
    /// is local.
    func place(_ name: String, isLocal: (UInt64) -> Bool) -> PathHandle? {
        let cached = broker_open_place(descriptor, name)
        guard cached == -ENOSYS || cached == -EAGAIN else { return PathHandle(cached) }
        return isLocal(file.mount) ? PathHandle(broker_open_place_asking(descriptor, name)) : nil
    }

    /// Goes down a path, part by part.
    ///
    /// - Parameter visit: lent every place on the way, the last one included.
    /// - Returns: the place at its end.
    consuming func descend(
        _ path: String, isLocal: (UInt64) -> Bool, visit: (broker_file) -> Void = { _ in }
    ) -> PathHandle? {
        var place = self
        for part in path.split(separator: "/") {
            guard let next = place.place(String(part), isLocal: isLocal) else { return nil }
            visit(next.file)
            place = next
        }
        return place
    }

    /// What is in a folder on a local mount.
    ///
    /// - Parameter most: entries; more are not read.
    func names(isLocal: (UInt64) -> Bool, atMost most: Int) -> [String] {
        guard file.isFolder, isLocal(file.mount) else { return [] }
        return (try? FolderNames(of: "/proc/self/fd/\(descriptor)", atMost: most).names) ?? []
    }

    /// All of a regular file on a local mount; nil for a longer one.
    func contents(limit: Int, isLocal: (UInt64) -> Bool) -> [UInt8]? {
        guard file.isRegular, isLocal(file.mount) else { return nil }
        let opened = open("/proc/self/fd/\(descriptor)", O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard opened >= 0 else { return nil }
        defer { close(opened) }
        guard let bytes = readFile(opened, atMost: limit) else { return nil }
        return bytes.count <= limit ? bytes : nil
    }
}

extension broker_file {
    var isRegular: Bool { mode_t(mode) & S_IFMT == S_IFREG }
    var isFolder: Bool { mode_t(mode) & S_IFMT == S_IFDIR }
}
