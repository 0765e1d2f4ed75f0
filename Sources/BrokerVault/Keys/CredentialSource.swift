import BrokerModel
import BrokerSystem
import Glibc

/// A key that systemd hands to the unit (`LoadCredential=`, `LoadCredentialEncrypted=`): the credential ``credentialName``.
///
/// Its bytes are the administrator's, so they are hashed to a key, together with the vault's id: one credential may serve
/// several vaults. systemd owns the folder and sees to its rights.
package struct CredentialSource: KeySource {
    package static let name = "credential"
    package static let credentialName = "vault-key"
    /// Fewer cannot hold 256 bits; more is a file that was named by mistake.
    private static let sizes = keyByteCount...(64 << 10)

    private let directory: String?
    package var name: String { Self.name }

    /// - Parameter directory: nil outside of a unit that has credentials.
    package init(in directory: String?) { self.directory = directory }

    private var path: String? { directory.map { "\($0)/\(Self.credentialName)" } }

    package func isAvailable() async -> Bool { path.map { access($0, R_OK) == 0 } ?? false }

    package func makeKey(for vaultID: [UInt8], passphrase: Secret?) throws(VaultError) -> MadeKey {
        MadeKey(key: try derived(for: vaultID))
    }

    package func key(
        for vaultID: [UInt8], parameters: [UInt8], passphrase: Secret?
    ) throws(VaultError) -> Secret { try derived(for: vaultID) }

    private func derived(for vaultID: [UInt8]) throws(VaultError) -> Secret {
        guard let path else { throw missing("systemd gave this broker no credentials") }
        let root = try read(path).hashed()
        var context = CanonicalBytes()
        context.append("token-broker key from a credential")
        context.append(vaultID)
        return keyedSecret(context.bytes, key: root)
    }

    private func read(_ path: String) throws(VaultError) -> Secret {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            let number = errno
            throw number == ENOENT
                ? missing("it is not in $CREDENTIALS_DIRECTORY")
                : .keyUnavailable("The credential \(path) cannot be read: \(errnoText(number)).")
        }
        defer { close(descriptor) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG,
            Self.sizes.contains(Int(facts.st_size))
        else {
            throw .keyUnavailable(
                "The credential \(path) is no key: it must be a file of \(Self.sizes.lowerBound) to "
                    + "\(Self.sizes.upperBound) bytes. Name the right one in the unit.")
        }
        var isWhole = false
        let content = Secret(count: Int(facts.st_size)) { isWhole = readWhole(descriptor, into: $0) }
        guard isWhole else { throw .keyUnavailable("The credential \(path) changed while it was read. Start again.") }
        return content
    }

    private func missing(_ why: String) -> VaultError {
        .keyUnavailable(
            "The vault's key is the credential \(Self.credentialName), and \(why). Give the unit "
                + "LoadCredentialEncrypted=\(Self.credentialName):PATH (a user unit: LoadCredential=) again; without it the "
                + "tokens are lost: then move vault.db away and sign in again.")
    }
}
