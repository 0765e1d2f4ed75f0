import BrokerModel
import CSodium
import Glibc

/// A key in a file, made at first start: in a separate folder, or next to the vault.
///
/// It protects tokens in backups and copies of `vault.db` alone, and from other uids; not from an attacker who can read both
/// files. In the separate folder each vault's key has its own name, and a key that is still next to its vault is moved there once
/// it has opened the vault.
///
/// The file is text, so that a person sees what it is: the line `token-broker vault key 1`, then 64 hexadecimal digits.
package struct KeyFileSource: KeySource {
    package static let fileName = "vault.key"
    private static let heading = "token-broker vault key 1\n"
    private static let byteCount = heading.utf8.count + 2 * keyByteCount + 1

    /// A possible location of the key.
    private struct Place {
        let directory: StateDirectory
        let name: String
        var temporaryName: String { name + ".new" }
        var path: String { "\(directory.path)/\(name)" }
    }

    private let nextToVault: Place
    private let apart: StateDirectory?

    /// - Parameters:
    ///   - directory: the vault's.
    ///   - apart: the separate folder for keys.
    package init(in directory: StateDirectory, apartIn apart: StateDirectory? = nil) {
        nextToVault = Place(directory: directory, name: Self.fileName)
        self.apart = apart
    }

    /// Where the key of a vault belongs.
    private func place(of vaultID: [UInt8]) -> Place {
        apart.map { Place(directory: $0, name: "\(vaultID.hexadecimal).key") } ?? nextToVault
    }

    package static let name = "key-file"
    package var name: String { Self.name }

    package func makeKey(for vaultID: [UInt8], passphrase: Secret?, _: KeyAttempt) throws(VaultError) -> NewKey {
        let place = place(of: vaultID)
        if let key = try readKey(at: place) {
            try place.directory.syncName(place.name)
            return NewKey(key: key)
        }
        let key = Secret.random(count: keyByteCount)
        try write(key, to: place)
        return NewKey(key: key)
    }

    package func key(
        for vaultID: [UInt8], parameters: [UInt8], passphrase: Secret?, _: KeyAttempt
    ) throws(VaultError) -> Secret {
        let place = place(of: vaultID)
        let found = if let key = try readKey(at: place) { key } else { try readKey(at: nextToVault) }
        guard let key = found else {
            throw .keyUnavailable(
                "The vault's key \(place.path) is missing. Put it back from a backup; without it the tokens are lost: then "
                    + "move vault.db away and sign in again.")
        }
        // A second name of the key, left if its creation was interrupted between the two steps.
        place.directory.removeIfPresent(place.temporaryName)
        return key
    }

    package func keepsKey(of vaultID: [UInt8]) -> Bool {
        [place(of: vaultID), nextToVault].contains { $0.directory.exists($0.name) }
    }

    /// Moves a key that is next to its vault. At every moment one of the two files is whole; a failed move is retried at the next
    /// start.
    package func didUnlock(with vaultID: [UInt8]) {
        let place = place(of: vaultID)
        guard apart != nil, nextToVault.directory.exists(nextToVault.name) else { return }
        do throws(VaultError) {
            guard let key = try readKey(at: nextToVault) else { return }
            if try readKey(at: place) == nil {
                try write(key, to: place)
            }
            // Another vault's key may have been copied there by hand.
            guard try readKey(at: place) == key else { return }
            try place.directory.syncName(place.name)
            nextToVault.directory.removeIfPresent(nextToVault.name)
        } catch {}
    }

    package func discardKey(of vaultID: [UInt8], parameters: [UInt8]) {
        let place = place(of: vaultID)
        let key = try? readKey(at: place)
        place.directory.removeIfPresent(place.name)
        // A copy that a move left behind. Any other file there is not ours.
        if let key, let copy = try? readKey(at: nextToVault), copy == key {
            nextToVault.directory.removeIfPresent(nextToVault.name)
        }
    }

    /// Marks the folder so that backup programs leave it out. The key works without these files.
    private func markFolder() throws(VaultError) {
        guard let apart else { return }
        let marks = [
            // https://bford.info/cachedir/: borg, restic and GNU tar can be configured to leave such folders out.
            "CACHEDIR.TAG":
                "Signature: 8a477f597d28d172789f06886806bc55\n# Keys of the token broker's vault; not for backups.\n",
            ".gitignore": "*\n",
        ]
        // An empty one is from an earlier version, on a full disk.
        for (name, text) in marks where !apart.hasContent(name) {
            apart.removeIfPresent(name)
            let temporary = name + ".new"
            apart.removeIfPresent(temporary)
            try Array(text.utf8).withUnsafeBufferPointer { (bytes) throws(VaultError) in
                try apart.create(temporary, containing: UnsafeRawBufferPointer(bytes))
            }
            try apart.publish(temporary, as: name)
        }
    }

    private func readKey(at place: Place) throws(VaultError) -> Secret? {
        guard let file = try openFile(at: place) else { return nil }
        guard file.size == Self.byteCount else { throw notAKey(place) }
        var isWhole = false
        let content = Secret(count: Self.byteCount) { isWhole = file.read(into: $0) }
        guard isWhole, let key = Self.parse(content) else { throw notAKey(place) }
        return key
    }

    private func openFile(at place: Place) throws(VaultError) -> PrivateFile? {
        do {
            return try PrivateFile(reading: place.name, in: place.directory)
        } catch .notPrivate(let text) {
            throw .keyUnavailable(text)
        } catch {
            throw .keyUnavailable("The vault's key cannot be read: \(error)")
        }
    }

    private func notAKey(_ place: Place) -> VaultError {
        .keyUnavailable("\(place.path) is not a key file of this broker, or not all of one. Put it back from a backup.")
    }

    private static func parse(_ content: Secret) -> Secret? {
        content.withBytes { bytes in
            let digits = UnsafeRawBufferPointer(rebasing: bytes[heading.utf8.count..<byteCount - 1])
            guard bytes.starts(with: heading.utf8), bytes.last == UInt8(ascii: "\n") else { return nil }
            var written = 0
            let key = Secret(count: keyByteCount, isKept: true) { key in
                sodium_hex2bin(
                    key.octets, key.count, digits.characters, digits.count, nil, &written, nil)
            }
            return written == keyByteCount ? key : nil
        }
    }

    private func write(_ key: Secret, to place: Place) throws(VaultError) {
        try markFolder()
        place.directory.removeIfPresent(place.temporaryName)
        // One byte longer than the file: sodium_bin2hex ends with a NUL.
        let content = Secret(count: Self.byteCount + 1) { content in
            content.copyBytes(from: Self.heading.utf8)
            let digits = content.characters + Self.heading.utf8.count
            _ = key.withBytes { sodium_bin2hex(digits, 2 * keyByteCount + 1, $0.octets, $0.count) }
            content[Self.byteCount - 1] = UInt8(ascii: "\n")
        }
        try content.withBytes { (bytes) throws(VaultError) in
            try place.directory.create(
                place.temporaryName, containing: UnsafeRawBufferPointer(rebasing: bytes[..<Self.byteCount]))
        }
        try place.directory.publish(place.temporaryName, as: place.name)
    }
}
