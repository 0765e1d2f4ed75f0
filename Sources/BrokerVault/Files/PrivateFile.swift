import BrokerModel
import BrokerSystem
import Glibc

/// An open file of the state directory, checked to be regular, ours and closed to others.
package final class PrivateFile: Sendable {
    private let descriptor: Int32
    package let size: Int

    deinit { close(descriptor) }

    /// - Returns: nil if there is no such file.
    package init?(reading name: String, in directory: StateDirectory) throws(VaultError) {
        let path = "\(directory.path)/\(name)"
        // O_NONBLOCK: a FIFO put in its place must not hold us up.
        let flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
        let descriptor = openat(directory.descriptor, name, flags)
        guard descriptor >= 0 else {
            let number = errno
            if number == ENOENT { return nil }
            if number == ELOOP { throw .notPrivate("\(path) is a symbolic link. Put the file itself there.") }
            throw Ownership.objection(to: path) ?? .io("\(path) cannot be opened: \(errnoText(number)).")
        }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else {
            let number = errno
            close(descriptor)
            throw .io("\(path) cannot be examined: \(errnoText(number)).")
        }
        if let objection = Self.objection(to: facts, path: path) {
            close(descriptor)
            throw .notPrivate(objection)
        }
        self.descriptor = descriptor
        size = Int(facts.st_size)
    }

    private static func objection(to facts: stat, path: String) -> String? {
        if facts.st_mode & S_IFMT != S_IFREG { return "\(path) is not a regular file. Move it away." }
        if facts.st_uid != geteuid() {
            return Ownership.objection(to: path, of: facts.st_uid)
        }
        if facts.st_mode & 0o077 != 0 {
            return "\(path) is open to others (mode \(String(facts.st_mode & 0o777, radix: 8))). "
                + "Find out who may have read it, then run: chmod 600 \(path)"
        }
        return nil
    }

    /// Fills the buffer from the file's beginning. - Returns: false if the file is shorter or cannot be read.
    package func read(into buffer: UnsafeMutableRawBufferPointer) -> Bool { readWhole(descriptor, into: buffer) }

    static let pieceSize = 16 << 10

    /// The next ``pieceSize`` bytes (or fewer at the end) from an offset, in guarded memory: they may be part of a key.
    ///
    /// - Returns: nil if it cannot be read.
    func piece(at offset: Int) -> Secret? {
        var isRead = false
        let piece = Secret(count: min(Self.pieceSize, size - offset)) {
            isRead = readWhole(descriptor, into: $0, at: offset)
        }
        return isRead ? piece : nil
    }

    package func hasSameContent(as other: PrivateFile) -> Bool {
        size == other.size
            && stride(from: 0, to: size, by: Self.pieceSize).allSatisfy { offset in
                piece(at: offset).map { $0 == other.piece(at: offset) } ?? false
            }
    }
}

/// Fills the buffer from an offset of a file. - Returns: false if the file is shorter or cannot be read.
func readWhole(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int = 0) -> Bool {
    var done = 0
    while done < buffer.count {
        let count = pread(
            descriptor, buffer.baseAddress?.advanced(by: done), buffer.count - done, off_t(offset + done))
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return false }
        done += count
    }
    return true
}

extension StateDirectory {
    /// Creates a file with mode 0600, regardless of the umask, writes and syncs it.
    ///
    /// - Throws: also if a file of that name exists.
    package func create(_ name: String, containing bytes: UnsafeRawBufferPointer) throws(VaultError) {
        try create(name) { file throws(VaultError) in try write(bytes, to: file, name) }
    }

    /// Creates a file in the same way, with the content of another file.
    package func create(_ name: String, copying source: PrivateFile) throws(VaultError) {
        try create(name) { file throws(VaultError) in
            for offset in stride(from: 0, to: source.size, by: PrivateFile.pieceSize) {
                guard let piece = source.piece(at: offset) else { throw failure(EIO, "copy", name) }
                try piece.withBytes { bytes throws(VaultError) in try write(bytes, to: file, name) }
            }
        }
    }

    private func create(_ name: String, writing content: (Int32) throws(VaultError) -> Void) throws(VaultError) {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let descriptor = openat(self.descriptor, name, flags, 0o600)
        guard descriptor >= 0 else { throw failure(errno, "make", name) }
        defer { close(descriptor) }
        do throws(VaultError) {
            guard fchmod(descriptor, 0o600) == 0 else { throw failure(errno, "make", name) }
            try content(descriptor)
            guard fsync(descriptor) == 0 else { throw failure(errno, "write", name) }
        } catch {
            removeIfPresent(name)
            throw error
        }
    }

    private func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, _ name: String) throws(VaultError) {
        var done = 0
        while done < bytes.count {
            let count = Glibc.write(descriptor, bytes.baseAddress?.advanced(by: done), bytes.count - done)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure(count < 0 ? errno : ENOSPC, "write", name) }
            done += count
        }
    }

    package func exists(_ name: String) -> Bool {
        var facts = stat()
        return fstatat(descriptor, name, &facts, AT_SYMLINK_NOFOLLOW) == 0
    }

    /// Whether the file exists and is not empty.
    package func hasContent(_ name: String) -> Bool { size(of: name) > 0 }

    /// In bytes; 0 if the file does not exist.
    package func size(of name: String) -> Int {
        var facts = stat()
        return fstatat(descriptor, name, &facts, AT_SYMLINK_NOFOLLOW) == 0 ? Int(facts.st_size) : 0
    }

    package func removeIfPresent(_ name: String) { unlinkat(descriptor, name, 0) }

    /// - Throws: if it still exists afterwards.
    package func remove(_ name: String) throws(VaultError) {
        guard unlinkat(descriptor, name, 0) == 0 || errno == ENOENT else { throw failure(errno, "remove", name) }
    }

    /// Gives a finished file its name, durably. - Throws: also if the name is taken.
    package func publish(_ temporary: String, as name: String) throws(VaultError) {
        // rename() would replace what is there; link() cannot.
        guard linkat(descriptor, temporary, descriptor, name, 0) == 0 else { throw failure(errno, "make", name) }
        removeIfPresent(temporary)
        try syncName(name)
    }

    /// Makes the name of a file durable. A file that exists may be from an attempt that ended before it did this.
    package func syncName(_ name: String) throws(VaultError) {
        guard fsync(descriptor) == 0 else { throw failure(errno, "make", name) }
    }

    package func failure(_ number: Int32, _ verb: String, _ name: String) -> VaultError {
        let text = "Could not \(verb) \(path)/\(name): \(errnoText(number))."
        switch number {
        case _ where meansFull(number): return .full(text + " Free some space and try again.")
        case EROFS: return .io("\(text) \(readOnlyText(path))")
        case EACCES, EPERM:
            return Ownership.objection(to: "\(path)/\(name)") ?? Ownership.objection(to: path) ?? .io(text)
        default: return .io(text)
        }
    }
}
