import BrokerSystem
import CBrokerLinux
import Glibc

/// A file or folder that is held and not opened (O_PATH). It was reached without following a link, and without accessing a file
/// system that might never answer, such as that of a stopped FUSE server. While it is held, no other mount has the id of its
/// mount.
struct PathHandle: ~Copyable {
    private let descriptor: Int32
    let file: broker_file

    /// - Parameter descriptor: a descriptor that this value closes; below zero if there is none.
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

    /// The root of the process.
    static func root(of process: borrowing ProcessFolder) -> PathHandle? {
        PathHandle(broker_open_folder(process.descriptor, "root"))
    }

    /// A handle on an entry of the folder. The name is looked up in the kernel's name cache alone; if that is not possible, or the
    /// cache does not have the name, on a local mount only.
    func place(_ name: String, isLocal: (UInt64) -> Bool) -> PathHandle? {
        let cached = broker_open_place(descriptor, name)
        guard cached == -ENOSYS || cached == -EAGAIN else { return PathHandle(cached) }
        return isLocal(file.mount) ? PathHandle(broker_open_place_asking(descriptor, name)) : nil
    }

    /// Follows a path, part by part.
    ///
    /// - Parameter visit: called with every handle on the way, the last one included.
    /// - Returns: the handle of its end.
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

    /// The names in a folder on a local mount.
    ///
    /// - Parameter most: the number of entries to read at most.
    func names(isLocal: (UInt64) -> Bool, atMost most: Int) -> [String] {
        guard file.isFolder, isLocal(file.mount) else { return [] }
        return (try? FolderNames(of: "/proc/self/fd/\(descriptor)", atMost: most).names) ?? []
    }

    /// The whole content of a regular file on a local mount; `nil` for a longer one.
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
