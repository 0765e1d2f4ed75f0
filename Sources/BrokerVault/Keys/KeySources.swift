import BrokerModel

/// The environment of key sources.
package struct KeySourceContext: Sendable {
    /// The vault's directory.
    package var directory: StateDirectory
    /// The directory of key files, if it is not the vault's.
    package var keyDirectory: StateDirectory?
    /// `$CREDENTIALS_DIRECTORY`: the folder of a unit's credentials.
    package var credentials: String?
    /// Seals a key if the unit has no credential.
    package var credentialService = CredentialService()
    /// Provides the passphrase if the user does not; `nil` if there is no provider.
    package var passphrase: PassphraseSource.PassphraseProvider?

    package init(
        directory: StateDirectory, keyDirectory: StateDirectory? = nil, credentials: String? = nil,
        passphrase: PassphraseSource.PassphraseProvider? = nil
    ) {
        self.directory = directory
        self.keyDirectory = keyDirectory
        self.credentials = credentials
        self.passphrase = passphrase
    }
}

/// The key sources that a configuration can name (`vault.key_source`). A new source is a type and an entry here.
package enum KeySources {
    package typealias Maker = @Sendable (KeySourceContext) -> any KeySource

    private static let makers: KeyValuePairs<String, Maker> = [
        KeyFileSource.name: { KeyFileSource(in: $0.directory, apartIn: $0.keyDirectory) },
        CredentialSource.name: { CredentialSource(in: $0.credentials, sealedBy: $0.credentialService) },
        SecretServiceSource.name: { _ in SecretServiceSource() },
        PassphraseSource.name: { PassphraseSource(from: $0.passphrase) },
    ]

    package static var names: [String] { makers.map(\.key) }

    package static func all(in context: KeySourceContext) -> [any KeySource] {
        makers.map { $0.value(context) }
    }
}

/// The allowed sources of a vault, and the order in which a new vault tries them.
package struct KeySourceChoice: Sendable {
    private let sources: [any KeySource]
    /// As configured, strongest first; empty if not configured.
    private let order: [String]

    package init(_ sources: [any KeySource], order: [String] = []) {
        self.sources = sources
        self.order = order
    }

    var allowed: [any KeySource] { order.isEmpty ? sources : order.compactMap(source) }

    /// The default is the source that works everywhere.
    var forNewVaults: [any KeySource] { (order.isEmpty ? [KeyFileSource.name] : order).compactMap(source) }

    /// The source of an existing vault: the recorded one, or an error if the configuration does not allow it.
    func recorded(_ name: String, of vaultPath: String) throws(VaultError) -> any KeySource {
        guard let source = source(name) else {
            throw .keyUnavailable(
                "The key of \(vaultPath) comes from \(name), which this broker does not know. Install a later version.")
        }
        guard order.isEmpty || order.contains(name) else {
            throw .keyUnavailable(
                "The key of \(vaultPath) comes from \(name), but \(order.joined(separator: ", ")) is configured. "
                    + "Configure \(name) again.")
        }
        return source
    }

    /// A source to which the vault may move.
    func source(_ name: String, for vaultPath: String) throws(VaultError) -> any KeySource {
        guard let source = allowed.first(where: { $0.name == name }) else {
            let names = allowed.map(\.name).joined(separator: ", ")
            throw .unsuitable(
                "\(name) is not an allowed source of the key of \(vaultPath); allowed: \(names). "
                    + "Change vault.key_source in the configuration to allow others.")
        }
        return source
    }

    private func source(_ name: String) -> (any KeySource)? { sources.first { $0.name == name } }
}
