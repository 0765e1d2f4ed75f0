import BrokerModel
import BrokerSystem
import Glibc

/// A key that systemd keeps, in one of two forms.
///
/// The unit has it (`LoadCredential=`, `LoadCredentialEncrypted=`): the credential ``credentialName``. Its bytes are chosen by
/// the administrator, so they are hashed to a key, together with the vault's id: one credential may serve several vaults. systemd
/// owns the folder and sets its permissions.
///
/// Or the unit has none, and systemd seals a random key for the broker's user (``CredentialService``). The sealed key is kept in
/// the vault's header and so records the vault's form: neither form is ever tried instead of the other.
package struct CredentialSource: KeySource {
    package static let name = "credential"
    package static let credentialName = "vault-key"
    /// Fewer cannot hold 256 bits; more is a wrong file.
    private static let sizes = keyByteCount...(64 << 10)

    private let directory: String?
    private let service: CredentialService
    package var name: String { Self.name }

    /// - Parameter directory: nil outside a unit with credentials.
    package init(in directory: String?, sealedBy service: CredentialService = CredentialService()) {
        self.directory = directory
        self.service = service
    }

    private var path: String? { directory.map { "\($0)/\(Self.credentialName)" } }

    private var isPassed: Bool { path.map { access($0, R_OK) == 0 } ?? false }

    package func isAvailable() async -> Bool { isPassed || service.isThere }

    package func makeKey(
        for vaultID: [UInt8], passphrase: Secret?, _: KeyAttempt
    ) async throws(VaultError) -> NewKey {
        guard !isPassed, service.isThere else {
            do throws(VaultError) {
                return NewKey(key: try derived(for: vaultID))
            } catch {
                guard !isPassed else { throw error }
                throw .keyUnavailable(
                    "There is no credential \(Self.credentialName): systemd gave this broker none, and seals none by itself "
                        + "(that needs systemd 256). Give the unit LoadCredentialEncrypted=\(Self.credentialName):PATH (a "
                        + "user unit: LoadCredential=), or take another source.")
            }
        }
        let key = Secret.random(count: keyByteCount)
        do throws(CredentialService.Failure) {
            return NewKey(key: key, parameters: Array(try await service.seal(key, as: Self.name(of: vaultID)).utf8))
        } catch {
            throw .keyUnavailable("systemd did not seal the vault's key: \(error.text).")
        }
    }

    package func key(
        for vaultID: [UInt8], parameters: [UInt8], passphrase: Secret?, _: KeyAttempt
    ) async throws(VaultError) -> Secret {
        guard !parameters.isEmpty else { return try derived(for: vaultID) }
        do throws(CredentialService.Failure) {
            return try await service.open(String(decoding: parameters, as: UTF8.self), as: Self.name(of: vaultID))
        } catch {
            switch error {
            case .unreachable(let why):
                throw .awaitingKey(
                    "The vault's key is sealed by systemd, whose io.systemd.Credentials does not answer (\(why)); when it does, unlock the broker with brokerctl unlock."
                )
            case .refused(let why):
                throw .keyUnavailable(
                    "systemd does not open the vault's key (\(why)): it opens on the machine, and for the user, that it was "
                        + "sealed for, and with a TPM only as the firmware was then. Put that back; without it the tokens are "
                        + "lost: then move vault.db away and sign in again.")
            }
        }
    }

    /// The name of the sealed key: the key of another vault does not open in its place.
    private static func name(of vaultID: [UInt8]) -> String { "token-broker-\(vaultID.hexadecimal)" }

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
                "The credential \(path) is not a key: it must be a file of \(Self.sizes.lowerBound) to "
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

extension CredentialService.Failure {
    fileprivate var text: String {
        switch self {
        case .unreachable(let why): "io.systemd.Credentials does not answer (\(why))"
        case .refused(let why): why
        }
    }
}
