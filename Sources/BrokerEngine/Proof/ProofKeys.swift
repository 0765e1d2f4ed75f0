import BrokerModel
import BrokerValues

/// The key pairs that DPoP tokens are bound to (RFC 9449): one for each client and account, made when the first such token
/// is wanted, and filed together with it.
struct ProofKeys: Sendable {
    let services: EngineServices

    /// The key for a token that is to be asked for.
    ///
    /// - Parameter binds: whether the refresh token shall be bound although the access token is a bearer token (decision 165).
    /// - Parameter tokens: of the owner, where that is known; a person who is yet to sign in has a new key.
    /// - Returns: nil when no bound token is wanted.
    /// - Throws: `unsupported` when the provider does not say that it makes such tokens: asking it all the same would bring
    ///   a bearer token.
    func key(
        for type: TokenType, binds: Bool = false, of tokens: CachedTokens?, at metadata: ProviderMetadata
    ) throws(BrokerError) -> ProofKey? {
        guard type == .dpop || binds else { return nil }
        guard metadata.takesProofs else {
            throw type == .dpop ? Self.unsupported(metadata.authority) : Self.cannotBind(metadata.authority)
        }
        if let tokens, let known = try filedKey(in: tokens) { return known }
        guard let made = services.proofs.makeKey() else {
            throw BrokerError(.internal, "There is no memory for a key; try again.")
        }
        return made
    }

    /// The key for a refresh. A bound refresh token is proven with its own key, whatever it shall bring; one that is not
    /// becomes no bound one for the sake of a bearer token.
    func key(
        for type: TokenType, spending token: RefreshTokenRecord, of tokens: CachedTokens, at metadata: ProviderMetadata
    ) throws(BrokerError) -> ProofKey? {
        guard type == .bearer, let thumbprint = token.keyThumbprint else {
            return try key(for: type, of: tokens, at: metadata)
        }
        guard let known = try filedKey(in: tokens), known.thumbprint == thumbprint else { throw Self.unusable }
        return known
    }

    /// - Returns: nil when none was made yet.
    func filedKey(in tokens: CachedTokens) throws(BrokerError) -> ProofKey? {
        guard let stored = tokens.proofKey else { return nil }
        let secret = try services.reading { () throws(VaultError) in try services.vault.secret(of: stored.sealed) }
        // Another one would not do: the refresh token is bound to this one.
        guard let key = services.proofs.key(privateKey: secret) else {
            throw Self.unusable
        }
        return key
    }

    private static let unusable = BrokerError(
        .internal, "The key that this sign-in is bound to cannot be used; sign out, and in again.",
        reason: .vaultDamaged)

    /// - Throws: for a token of another type than the app asked for (decision 13): it would not know how to use it.
    static func check(_ type: TokenType, for asked: TokenType, at authority: Authority) throws(BrokerError) {
        guard type != asked else { return }
        throw asked == .dpop ? unsupported(authority) : bindsEverything(authority)
    }

    private static func cannotBind(_ authority: Authority) -> BrokerError {
        BrokerError(
            .unsupported,
            "\(authority.environment) does not say that it takes DPoP proofs; register the app without bindRefreshToken."
        )
    }

    private static func bindsEverything(_ authority: Authority) -> BrokerError {
        BrokerError(
            .unsupported,
            "\(authority.environment) binds access tokens, too; ask for tokenType DPoP, or register the app without bindRefreshToken."
        )
    }

    /// A bearer token that came instead of a bound one is not handed out: the app counts on the binding.
    static func unsupported(_ authority: Authority) -> BrokerError {
        BrokerError(
            .unsupported,
            "\(authority.environment) gives out Bearer tokens only; ask for tokenType Bearer, or its administrator for DPoP."
        )
    }
}
