import BrokerModel

/// The header of a backup: its format, and how the key is derived from a passphrase.
///
/// Magic, version, costs and salt of Argon2id, the header of the stream; then a keyed hash of all that, which only the right
/// passphrase produces. So a wrong passphrase is distinguished from a damaged file before anything else is read, and no part of
/// the header can be changed.
package struct BackupHeader {
    private static let magic = Array("token-broker-bak".utf8)
    static let version: UInt32 = 1
    private static let parameterCount = 13 + PassphraseCosts.saltCount
    private static let checkCount = 32
    private static var checked: Int { magic.count + 4 + parameterCount + SecretStream.headerCount }
    package static var count: Int { checked + checkCount }

    /// Half a second, and more memory than for a vault: a backup may be stored where others can find it.
    package static let usualCosts = PassphraseCosts(passes: 4, memory: 128 << 20)

    /// - Returns: the stream to continue with, and the first bytes of the file.
    static func begin(
        with passphrase: Secret, costs: PassphraseCosts
    ) async throws(VaultError) -> (key: Secret, prefix: [UInt8]) {
        let salt = Secret.random(count: PassphraseCosts.saltCount).withBytes { [UInt8]($0) }
        let key = try await costs.key(from: passphrase, salt: salt)
        var bytes = CanonicalBytes()
        bytes.append(version)
        return (key, magic + bytes.bytes + costs.parameters(salt: salt))
    }

    static func streamKey(_ key: Secret) -> Secret { key.subkey(1, "tb-backs") }

    /// - Parameter bytes: all bytes before the hash.
    static func check(_ bytes: [UInt8], key: Secret) -> [UInt8] { keyedHash(bytes, key: key.subkey(2, "tb-backs")) }

    let costs: PassphraseCosts
    let salt: [UInt8]
    let streamHeader: [UInt8]
    private let bytes: [UInt8]

    /// - Parameter bytes: the first bytes of a file; fewer than ``count`` if the file is shorter.
    package init(_ bytes: [UInt8]) throws(BackupError) {
        let magicCount = Self.magic.count
        guard bytes.starts(with: Self.magic) else { throw .notABackup }
        guard bytes.count >= magicCount + 4 else { throw .truncatedHeader }
        let version = bytes[magicCount..<magicCount + 4].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        guard version == Self.version else {
            guard version > Self.version else { throw .notABackup }
            throw .newerFormat(found: Int(version), supported: Int(Self.version))
        }
        guard bytes.count == Self.count else { throw .truncatedHeader }
        let parameters = Array(bytes[(magicCount + 4)..<(magicCount + 4 + Self.parameterCount)])
        // Costs that no broker writes would only waste memory and time.
        guard let (costs, salt) = PassphraseCosts.read(parameters) else { throw .damagedHeader }
        (self.costs, self.salt, self.bytes) = (costs, salt, bytes)
        streamHeader = Array(bytes[(Self.checked - SecretStream.headerCount)..<Self.checked])
    }

    /// - Throws: ``BackupError/wrongPassphrase``.
    func key(from passphrase: Secret) async throws(BackupError) -> Secret {
        let key: Secret
        do throws(VaultError) {
            key = try await costs.key(from: passphrase, salt: salt)
        } catch {
            throw .io(error.description)
        }
        let check = Self.check(Array(bytes.prefix(Self.checked)), key: key)
        guard Secret(copying: check) == Secret(copying: Array(bytes.suffix(Self.checkCount))) else {
            throw .wrongPassphrase
        }
        return Self.streamKey(key)
    }
}

extension Secret {
    fileprivate convenience init(copying bytes: [UInt8]) {
        self.init(count: bytes.count) { $0.copyBytes(from: bytes) }
    }
}

extension BackupError {
    static let damagedHeader = BackupError.io("The backup's first bytes are damaged; take another copy of it.")
    static let truncatedHeader = BackupError.io("The backup ends in its first bytes; take a whole copy of it.")
}
