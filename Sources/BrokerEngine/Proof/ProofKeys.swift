import BrokerModel
import BrokerValues

/// The key pairs that DPoP tokens are bound to (RFC 9449): one for each client and account, made when the first such token
/// is wanted, and filed together with it.
struct ProofKeys: Sendable {
    let services: EngineServices

    /// The key for a token that is to be asked for.
    ///
    /// - Parameter tokens: of the owner, where that is known; a person who is yet to sign in has a new key.
    /// - Returns: nil when no bound token is wanted.
    /// - Throws: `unsupported` when the provider does not say that it makes such tokens: asking it all the same would bring
    ///   a bearer token.
    func key(
        for type: TokenType, of tokens: CachedTokens?, at metadata: ProviderMetadata
    ) throws(BrokerError) -> ProofKey? {
        guard type == .dpop else { return nil }
        guard metadata.dpopAlgorithms?.contains("ES256") == true else { throw Self.unsupported(metadata.authority) }
        if let tokens, let known = try filedKey(in: tokens) { return known }
        guard let made = services.proofs.makeKey() else {
            throw BrokerError(.internal, "There is no memory for a key; try again.")
        }
        return made
    }

    /// - Returns: nil when none was made yet.
    func filedKey(in tokens: CachedTokens) throws(BrokerError) -> ProofKey? {
        guard let stored = tokens.proofKey else { return nil }
        let secret = try services.reading { () throws(VaultError) in try services.vault.secret(of: stored.sealed) }
        // Another one would not do: the refresh token is bound to this one.
        guard let key = services.proofs.key(privateKey: secret) else {
            throw BrokerError(
                .internal, "The key that this sign-in is bound to cannot be used; sign out, and in again.",
                reason: .vaultDamaged)
        }
        return key
    }

    /// A bearer token that came instead of a bound one is not handed out: the app counts on the binding.
    static func unsupported(_ authority: Authority) -> BrokerError {
        BrokerError(
            .unsupported,
            "\(authority.environment) gives out Bearer tokens only; ask for tokenType Bearer, or its administrator for DPoP."
        )
    }
}
