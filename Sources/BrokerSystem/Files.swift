import Glibc

/// The reason why a folder or a file is rejected. ``text`` follows its name, or "it", in a sentence.
package enum FileError: Error, Sendable, Equatable {
    /// It cannot be read, for this reason (errno).
    case unreadable(Int32)
    case notRegular
    case foreign
    case writableByOthers
    /// Larger than this number of bytes.
    case larger(Int)

    package var text: String {
        switch self {
        case .unreadable(let number): "cannot be read: \(errnoText(number))"
        case .notRegular: "is not a regular file"
        case .foreign: "belongs to another user; make it yours or root's"
        case .writableByOthers: "can be written by others; run chmod go-w on it"
        case .larger(let limit): "is larger than \(limit >> 20) MiB"
        }
    }

    /// Whether the file or folder does not exist.
    package var isAbsence: Bool { self == .unreadable(ENOENT) || self == .unreadable(ENOTDIR) }
}

/// The entries of a folder, unordered, without `.` and `..`.
package struct FolderNames: Sendable {
    package private(set) var names: [String] = []
    /// Names that are not UTF-8, repaired for display: they do not refer to a file.
    package private(set) var repaired: [String] = []

    /// - Parameter most: the limit of entries; more are not read.
    package init(of path: String, atMost most: Int = .max) throws(FileError) {
        guard let stream = opendir(path) else { throw .unreadable(errno) }
        defer { closedir(stream) }
        while names.count + repaired.count < most {
            // Only errno distinguishes the end from a failure.
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw .unreadable(errno) }
                return
            }
            withUnsafeBytes(of: &entry.pointee.d_name) { add($0.prefix { $0 != 0 }) }
        }
    }

    private mutating func add(_ bytes: Slice<UnsafeRawBufferPointer>) {
        guard let name = String(validating: bytes, as: UTF8.self) else {
            repaired.append(String(decoding: bytes, as: UTF8.self))
            return
        }
        if name != ".", name != ".." { names.append(name) }
    }
}

/// Reads a file to its end, or at least one byte beyond the limit if it is longer.
///
/// - Returns: `nil` if it cannot be read; errno has the reason.
package func readFile(_ descriptor: Int32, atMost limit: Int) -> [UInt8]? {
    withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 1) { buffer in
        var bytes: [UInt8] = []
        while bytes.count <= limit {
            let count = read(descriptor, buffer.baseAddress, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { break }
            bytes += buffer.prefix(count)
        }
        return bytes
    }
}

/// Reads a regular file. A pipe in its place does not block.
///
/// - Parameters:
///   - limit: the most bytes; a longer file is refused.
///   - isTrusted: whether only this process's user and root may be able to write it, or a group if that is the user's own
///     (``UserPrivateGroup``).
package func readFile(at path: String, atMost limit: Int, isTrusted: Bool) throws(FileError) -> [UInt8] {
    let file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    guard file >= 0 else { throw .unreadable(errno) }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { throw .unreadable(errno) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular }
    if isTrusted {
        guard status.st_uid == geteuid() || status.st_uid == 0 else { throw .foreign }
        let writableByOthers =
            status.st_mode & S_IWOTH != 0
            || status.st_mode & S_IWGRP != 0 && !UserPrivateGroup.isOwn(status.st_gid)
        guard !writableByOthers else { throw .writableByOthers }
    }
    guard let bytes = readFile(file, atMost: limit) else { throw .unreadable(errno) }
    guard bytes.count <= limit else { throw .larger(limit) }
    return bytes
}

/// The owner of the folder, or of its nearest existing parent, if this process is root and the owner is not: they cannot use
/// files that root writes there.
package func otherOwner(of path: String) -> uid_t? {
    guard geteuid() == 0 else { return nil }
    var facts = stat()
    var place = path[...]
    while stat(place.isEmpty ? "/" : String(place), &facts) != 0 {
        guard errno == ENOENT, let slash = place.lastIndex(of: "/") else { return nil }
        place = place[..<slash]
    }
    return facts.st_uid == 0 ? nil : facts.st_uid
}

/// Makes a folder and its parents, accessible only to this process's user (XDG Base Directory Specification).
///
/// - Returns: whether it exists; if not, errno has the reason.
package func makeFolders(_ path: String) -> Bool {
    if mkdir(path, 0o700) == 0 || errno == EEXIST { return access(path + "/", X_OK) == 0 }
    guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return false }
    return makeFolders(String(path[..<slash])) && (mkdir(path, 0o700) == 0 || errno == EEXIST)
}

/// - Returns: whether everything was written; otherwise errno is set.
package func writeAll(_ bytes: some Sequence<UInt8>, to descriptor: Int32) -> Bool {
    Array(bytes).withUnsafeBytes { bytes in
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if count > 0 { rest = rest.dropFirst(count) } else if count == 0 || errno != EINTR { return false }
        }
        return true
    }
}
