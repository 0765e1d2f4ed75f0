import BrokerModel
import BrokerTokenCache
import BrokerValues

/// The key pairs that DPoP tokens are bound to (RFC 9449): one for each client and account, made when the first such token is
/// requested, and filed together with it.
struct ProofKeys: Sendable {
    let cache: TokenCache
    let proofs: any ProofSigner

    /// The key for a new token.
    ///
    /// - Parameter binds: whether to bind the refresh token although the access token is a bearer token (decision 14).
    /// - Parameter tokens: the owner's tokens, if the owner is known; a person who is yet to sign in gets a new key.
    /// - Returns: `nil` if no bound token is wanted.
    /// - Throws: `unsupported` if the provider does not announce such tokens: requesting one all the same would bring a bearer
    ///   token.
    func key(
        for type: TokenType, binds: Bool = false, of tokens: CachedTokens?, at metadata: ProviderMetadata
    ) throws(BrokerError) -> ProofKey? {
        guard type == .dpop || binds else { return nil }
        guard metadata.takesProofs else {
            throw type == .dpop ? Self.unsupported(metadata.authority) : Self.cannotBind(metadata.authority)
        }
        if let tokens, let known = try filedKey(in: tokens) { return known }
        guard let made = proofs.makeKey() else {
            throw BrokerError(.internal, "There is no memory for a key; try again.")
        }
        return made
    }

    /// The key for a refresh. A bound refresh token is proven with its own key, whatever type is requested; an unbound one is not
    /// bound for the sake of a bearer token.
    func key(
        for type: TokenType, spending token: RefreshTokenRecord, of tokens: CachedTokens, at metadata: ProviderMetadata
    ) throws(BrokerError) -> ProofKey? {
        guard type == .bearer, let thumbprint = token.keyThumbprint else {
            return try key(for: type, of: tokens, at: metadata)
        }
        guard let known = try filedKey(in: tokens), known.thumbprint == thumbprint else { throw Self.unusable }
        return known
    }

    /// - Returns: `nil` if none was made yet.
    func filedKey(in tokens: CachedTokens) throws(BrokerError) -> ProofKey? {
        guard let stored = tokens.proofKey else { return nil }
        let secret = try cache.secret(of: stored.sealed)
        // Another key cannot replace it: the refresh token is bound to this one.
        guard let key = proofs.key(privateKey: secret) else {
            throw Self.unusable
        }
        return key
    }

    private static let unusable = BrokerError(
        .internal, "The key that this sign-in is bound to cannot be used; sign out, and in again.",
        reason: .vaultDamaged)

    /// - Throws: for a token of another type than the app requested (decision 14): the app would not know how to use it.
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

    /// A bearer token received instead of a bound one is not returned: the app counts on the binding.
    static func unsupported(_ authority: Authority) -> BrokerError {
        BrokerError(
            .unsupported,
            "\(authority.environment) gives out Bearer tokens only; ask for tokenType Bearer, or its administrator for DPoP."
        )
    }
}
