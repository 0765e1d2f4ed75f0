import BrokerModel
import CSodium
import Glibc

/// A key in a file beside the vault, made at first start.
///
/// It keeps tokens out of backups and copies of `vault.db` alone, and of other uids' reach; not from somebody who can read
/// the whole directory.
///
/// The file is text, so that a person sees what it is: the line `token-broker vault key 1`, then 64 hexadecimal digits.
package struct KeyFileSource: KeySource {
    package static let fileName = "vault.key"
    private static let heading = "token-broker vault key 1\n"
    private static let byteCount = heading.utf8.count + 2 * keyByteCount + 1
    private static let temporaryName = "vault.key.new"

    private let directory: StateDirectory
    private var path: String { "\(directory.path)/\(Self.fileName)" }

    package init(in directory: StateDirectory) { self.directory = directory }

    package static let name = "key-file"
    package var name: String { Self.name }

    package func makeKey(for vaultID: [UInt8], passphrase: Secret?) throws(VaultError) -> MadeKey {
        if let key = try readKey() { return MadeKey(key: key) }
        directory.removeIfPresent(Self.temporaryName)
        let key = Secret.random(count: keyByteCount)
        try write(key)
        return MadeKey(key: key)
    }

    package func key(
        for vaultID: [UInt8], parameters: [UInt8], passphrase: Secret?
    ) throws(VaultError) -> Secret {
        guard let key = try readKey() else {
            throw .keyUnavailable(
                "The vault's key \(path) is missing. Put it back from a backup; without it the tokens are lost: then "
                    + "move vault.db away and sign in again.")
        }
        // A second name of the key, if making it was interrupted between its two steps.
        directory.removeIfPresent(Self.temporaryName)
        return key
    }

    package func discardKey(of vaultID: [UInt8], parameters: [UInt8]) { directory.removeIfPresent(Self.fileName) }

    private func readKey() throws(VaultError) -> Secret? {
        guard let file = try openFile() else { return nil }
        guard file.size == Self.byteCount else { throw notAKey }
        var isWhole = false
        let content = Secret(count: Self.byteCount) { isWhole = file.read(into: $0) }
        guard isWhole, let key = Self.parse(content) else { throw notAKey }
        return key
    }

    private func openFile() throws(VaultError) -> PrivateFile? {
        do {
            return try PrivateFile(reading: Self.fileName, in: directory)
        } catch .notPrivate(let text) {
            throw .keyUnavailable(text)
        } catch {
            throw .keyUnavailable("The vault's key cannot be read: \(error)")
        }
    }

    private var notAKey: VaultError {
        .keyUnavailable("\(path) is not a key file of this broker, or not all of one. Put it back from a backup.")
    }

    private static func parse(_ content: Secret) -> Secret? {
        content.withBytes { bytes in
            let digits = UnsafeRawBufferPointer(rebasing: bytes[heading.utf8.count..<byteCount - 1])
            guard bytes.starts(with: heading.utf8), bytes.last == UInt8(ascii: "\n") else { return nil }
            var written = 0
            let key = Secret(count: keyByteCount) { key in
                sodium_hex2bin(
                    key.octets, key.count, digits.characters, digits.count, nil, &written, nil)
            }
            return written == keyByteCount ? key : nil
        }
    }

    private func write(_ key: Secret) throws(VaultError) {
        // One byte longer than the file: sodium_bin2hex ends with a NUL.
        let content = Secret(count: Self.byteCount + 1) { content in
            content.copyBytes(from: Self.heading.utf8)
            let digits = content.characters + Self.heading.utf8.count
            _ = key.withBytes { sodium_bin2hex(digits, 2 * keyByteCount + 1, $0.octets, $0.count) }
            content[Self.byteCount - 1] = UInt8(ascii: "\n")
        }
        try content.withBytes { (bytes) throws(VaultError) in
            try directory.create(
                Self.temporaryName, containing: UnsafeRawBufferPointer(rebasing: bytes[..<Self.byteCount]))
        }
        try directory.publish(Self.temporaryName, as: Self.fileName)
    }
}
