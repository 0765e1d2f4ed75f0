import BrokerModel
import BrokerTokenCache
import BrokerValues
import Logging

/// Makes the authorization requests of sign-ins.
struct AuthorizationQuestions: Sendable {
    let cache: TokenCache
    let proofKeys: ProofKeys
    let random: any RandomSource
    let log: Logger

    func attempt(
        for plan: SignInPlan, at metadata: ProviderMetadata, _ proofKey: ProofKey?, asking scopes: Scopes,
        redirectURI: String,
        asksForForm: Bool, asksConsent: Bool, withoutOfflineAccess: Bool
    ) -> AuthorizationAttempt {
        let request = plan.request
        let pkce = PKCE(random: random)
        func authorized(extra: Scopes) -> Scopes {
            ScopeRules.toAuthorize(
                scopes, extra: extra, at: metadata, setting: request.app.description.offlineAccess,
                withoutOfflineAccess: withoutOfflineAccess)
        }
        var authorization = AuthorizationRequest(
            clientID: request.app.clientID, redirectURI: redirectURI,
            scopes: authorized(extra: request.extraScopesToConsent),
            state: Base64URL.encode(random.bytes(32)), nonce: Base64URL.encode(random.bytes(16)),
            codeChallenge: pkce.challenge, correlationID: request.correlationID)
        authorization.prompt = plan.prompt
        authorization.asksForForm = asksForForm
        authorization.asksConsent = asksConsent
        authorization.loginHint = plan.account?.account.username ?? request.loginHint
        authorization.idTokenHint = idTokenHint(for: plan)
        authorization.domainHint = request.domainHint
        authorization.asksClientInfo = request.target.rules.asksClientInfo
        authorization.isInstanceAware = !plan.otherClouds.isEmpty
        authorization.claims = ClaimsRule.merged(request.claims, capabilities: request.clientCapabilities)
        authorization.maxAge = request.maxAge
        authorization.acrValues = request.acrValues
        authorization.proofKeyThumbprint = proofKey?.thumbprint
        authorization.resources = request.resources
        authorization.extraQueryParameters = request.extraQueryParameters
        authorization.registeredParameters = request.app.query ?? [:]
        // A provider that leaves `scope` out gave all that was asked for (RFC 6749, section 5.1). Where grants follow
        // consent, the extra scopes are consented to, and other tokens have them.
        let sent = plan.authority.rules.grantsFollowConsent ? authorized(extra: Scopes([])) : authorization.scopes
        return AuthorizationAttempt(
            metadata: metadata, proofKey: proofKey, sent: sent, asked: scopes, verifier: pkce.verifier,
            authorization: authorization)
    }

    /// The key of the account that must sign in, if it has one.
    func proofKey(for plan: SignInPlan, at metadata: ProviderMetadata) throws(BrokerError) -> ProofKey? {
        let request = plan.request
        var tokens: CachedTokens?
        let binds = request.app.bindsRefreshToken(at: metadata)
        if request.tokenType == .dpop || binds, let account = plan.account {
            tokens = try cache.tokens(of: .init(of: account.stored.record, for: request.app, in: request.partition))
        }
        return try proofKeys.key(for: request.tokenType, binds: binds, of: tokens, at: metadata)
    }

    /// At a provider that narrows grants, the scopes granted before, which a sign-in for less would lose (decision 17). If no
    /// particular account has to sign in, the grant's owner is not known: then all accounts' scopes count.
    func scopesThatWouldBeLost(by plan: SignInPlan) throws(BrokerError) -> Scopes {
        let (request, authority) = (plan.request, plan.authority)
        guard !authority.rules.grantsFollowConsent, request.resources.isEmpty else { return Scopes([]) }
        let known = try cache.accounts(of: request.app, in: request.partition)
        let people = plan.person.map { [$0] } ?? known.entries
        var scopes = Scopes([])
        for entry in people where entry.fits(authority, []) {
            let tokens = try cache.tokens(
                of: .init(of: entry.stored.record, for: request.app, in: request.partition))
            for token in tokens.refreshTokens where token.record.grantNarrows == true {
                scopes = scopes.union(ScopeRules.grantedByName(Scopes(token.record.scopes)))
            }
        }
        return scopes.subtracting(Scopes.reserved)
    }

    /// The saved ID token as `id_token_hint` (OpenID Connect Core, section 3.1.2.1): providers may refuse `prompt=none` without it.
    /// It can get into the browser's arguments and history, so it is sent for nothing else. One provider's token is never sent to
    /// another.
    ///
    /// - Returns: `nil` also if the saved one cannot be read: the sign-in must not fail because of a hint.
    private func idTokenHint(for plan: SignInPlan) -> Secret? {
        let (request, authority) = (plan.request, plan.authority)
        guard plan.prompt == Prompt.none, authority.rules.takesIDTokenHint, let record = plan.person?.stored.record,
            record.environment == authority.environment, record.realm == authority.path
        else { return nil }
        let owner = OwnerKey(of: record, for: request.app, in: request.partition)
        do throws(VaultError) {
            let tokens = try cache.index.loadTokens(of: owner)
            return try tokens.idTokens[record.realm].map { idToken throws(VaultError) in
                try cache.vault.secret(of: idToken)
            }
        } catch {
            log.warning(
                "the saved ID token could not be read; the sign-in goes on without that hint",
                metadata: ["correlation_id": "\(request.correlationID)", "cause": "\(error)"])
            return nil
        }
    }

    /// The second attempt, without `offline_access`.
    ///
    /// - Returns: `nil` unless the first was refused for `offline_access`, as far as can be determined.
    func again(_ open: OpenAttempt, for plan: SignInPlan, after error: BrokerError) -> AuthorizationAttempt? {
        guard plan.request.app.description.offlineAccess == nil,
            OfflineRefusal.isPossible(error, to: open.current.authorization.scopes)
        else { return nil }
        return open.again(after: error) { first in
            attempt(
                for: plan, at: first.metadata, first.proofKey, asking: first.asked,
                redirectURI: first.authorization.redirectURI, asksForForm: first.authorization.asksForForm,
                asksConsent: first.authorization.asksConsent, withoutOfflineAccess: true)
        }
    }
}
