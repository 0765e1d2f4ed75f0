import BrokerModel
import BrokerVault
import Glibc
import Logging

/// The move of a vault from the folder where an earlier release kept it.
///
/// The files are copied, `vault.db` last, and then removed, `vault.db` last again. At every moment one of the folders has the
/// whole vault. As long as the earlier folder has `vault.db`, the move is not complete, and each start continues it: copies that
/// exist already are identical, byte for byte.
///
/// `vault.db` is replaced by a link to the new file. It shows people where the vault is, and an earlier release refuses it
/// instead of making an empty vault next to the full one.
struct VaultMove {
    /// In the order of copying. The index (`-shm`) is recreated.
    private static let copied = [KeyFileSource.fileName, SQLiteSchema.logName, SQLiteSchema.fileName]
    private static let removed = [KeyFileSource.fileName, SQLiteSchema.logName, SQLiteSchema.fileName + "-shm"]

    private let old: StateDirectory
    private let new: StateDirectory
    private let claim: DirectoryClaim

    /// - Returns: nil if there is no vault to move: the two paths may be the same directory.
    /// - Throws: ``VaultError/inUse(_:)`` while a broker works on it.
    init?(from path: String, to directory: StateDirectory) throws(VaultError) {
        guard Self.hasVault(path) else { return nil }
        old = try StateDirectory.open(creating: path, followingLink: true)
        new = directory
        guard !old.isSame(as: new) else { return nil }
        claim = try DirectoryClaim(on: old)
        // Another start may have moved it in the meantime.
        guard Self.hasVault(path) else { return nil }
    }

    private static func hasVault(_ path: String) -> Bool {
        var facts = stat()
        return lstat("\(path)/\(SQLiteSchema.fileName)", &facts) == 0 && facts.st_mode & S_IFMT == S_IFREG
    }

    /// - Throws: ``VaultError/ambiguous(_:)`` if there is another vault in the new folder; nothing is changed then.
    func complete(_ logger: Logger) throws(VaultError) {
        for name in Self.copied.reversed() { try requireRoom(for: name) }
        for name in Self.copied { try copy(name) }
        for name in Self.removed { try old.remove(name) }
        try old.replace(SQLiteSchema.fileName, withLinkTo: "\(new.path)/\(SQLiteSchema.fileName)")
        old.removeIfPresent(DirectoryClaim.fileName)
        logger.notice("the vault was moved", metadata: ["from": "\(old.path)", "to": "\(new.path)"])
    }

    private func requireRoom(for name: String) throws(VaultError) {
        guard let source = try PrivateFile(reading: name, in: old), let there = try PrivateFile(reading: name, in: new),
            !there.hasSameContent(as: source)
        else { return }
        throw .ambiguous(
            "There is a vault in \(old.path), where an earlier release kept it, and another \(name) in \(new.path). Move the one "
                + "that you do not need to another folder, then try again.")
    }

    private func copy(_ name: String) throws(VaultError) {
        let temporary = name + ".new"
        new.removeIfPresent(temporary)
        guard !new.exists(name) else { return try new.syncName(name) }
        guard let source = try PrivateFile(reading: name, in: old) else { return }
        try new.create(temporary, copying: source)
        try new.publish(temporary, as: name)
    }
}

extension StateDirectory {
    /// Opens the directory of a vault, and moves the vault there if an earlier release kept it elsewhere.
    ///
    /// systemd from 254 on makes the directory a link to the earlier one if only that exists. The link is removed: a vault has
    /// its own directory, apart from settings.
    package static func open(
        creating path: String, movingFrom earlier: String?, logger: Logger
    ) throws(VaultError) -> StateDirectory {
        guard let earlier else { return try open(creating: path) }
        var facts = stat()
        if lstat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFLNK, let target = target(of: path),
            target == self.target(of: earlier)
        {
            unlink(path)
        }
        let directory = try open(creating: path)
        try VaultMove(from: earlier, to: directory)?.complete(logger)
        return directory
    }

    /// Whether both are the same directory, by any path. `true` if one cannot be examined: nothing is removed then.
    fileprivate func isSame(as other: StateDirectory) -> Bool {
        var (own, others) = (stat(), stat())
        guard fstat(descriptor, &own) == 0, fstat(other.descriptor, &others) == 0 else { return true }
        return own.st_dev == others.st_dev && own.st_ino == others.st_ino
    }

    /// At every moment the name refers to the file or the link.
    fileprivate func replace(_ name: String, withLinkTo path: String) throws(VaultError) {
        let temporary = name + ".link"
        removeIfPresent(temporary)
        guard symlinkat(path, descriptor, temporary) == 0, renameat(descriptor, temporary, descriptor, name) == 0,
            fsync(descriptor) == 0
        else { throw failure(errno, "replace", name) }
    }
}
