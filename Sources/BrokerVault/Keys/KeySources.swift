import BrokerModel

/// What key sources find around the broker.
package struct KeySourceContext: Sendable {
    /// Of the vault.
    package var directory: StateDirectory
    /// Where a key file lies, if not beside the vault.
    package var keyDirectory: StateDirectory?
    /// `$CREDENTIALS_DIRECTORY`: where systemd puts a unit's credentials.
    package var credentials: String?
    /// Seals a key where the unit has no credential.
    package var credentialService = CredentialService()
    /// Brings the passphrase where no person does; nil where nothing does.
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

/// The key sources that a configuration can name (`vault.key_source`). A new one is its type, and an entry here.
package enum KeySources {
    package typealias Maker = @Sendable (KeySourceContext) -> any KeySource

    private static let makers: KeyValuePairs<String, Maker> = [
        KeyFileSource.name: { KeyFileSource(in: $0.directory, apartIn: $0.keyDirectory) },
        CredentialSource.name: { CredentialSource(in: $0.credentials, sealedBy: $0.credentialService) },
        SecretServiceSource.name: { _ in SecretServiceSource() },
        PassphraseSource.name: { PassphraseSource(from: $0.passphrase) },
    ]

    package static var names: [String] { makers.map(\.key) }

    package static func all(in surroundings: KeySourceContext) -> [any KeySource] {
        makers.map { $0.value(surroundings) }
    }
}

/// The sources that a vault may have, and in which order a new one tries them.
package struct KeySourceChoice: Sendable {
    private let sources: [any KeySource]
    /// As configured, strongest first; empty when the configuration says nothing.
    private let order: [String]

    package init(_ sources: [any KeySource], order: [String] = []) {
        self.sources = sources
        self.order = order
    }

    var allowed: [any KeySource] { order.isEmpty ? sources : order.compactMap(source) }

    /// Without a word from the configuration it is the one that works everywhere.
    var forNewVaults: [any KeySource] { (order.isEmpty ? [KeyFileSource.name] : order).compactMap(source) }

    /// The source of an existing vault: what is recorded counts, and a configuration that does not allow it is told so.
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

    /// A source that the vault may have from now on.
    func source(_ name: String, for vaultPath: String) throws(VaultError) -> any KeySource {
        guard let source = allowed.first(where: { $0.name == name }) else {
            throw .keyUnavailable(
                "\(vaultPath) may not have its key from \(name); there are \(allowed.map(\.name).joined(separator: ", ")). "
                    + "vault.key_source in the configuration says which.")
        }
        return source
    }

    private func source(_ name: String) -> (any KeySource)? { sources.first { $0.name == name } }
}
