import BrokerModel
import BrokerTokenCache
import BrokerValues

/// Processes a token response: checks the ID token, files all records durably in one transaction, and makes the result.
final class TokenResponseStore: Sendable {
    private let cache: TokenCache
    private let identities: IdentityVerification
    private let filing: GrantFiling
    private let salvage: RefreshTokenSalvage
    private let revocations: Revocations
    private let settings: SettingsBox
    private let clock: any BrokerClock

    init(
        cache: TokenCache, identities: IdentityVerification, filing: GrantFiling, salvage: RefreshTokenSalvage,
        revocations: Revocations, settings: SettingsBox, clock: any BrokerClock
    ) {
        (self.cache, self.identities, self.filing, self.salvage) = (cache, identities, filing, salvage)
        (self.revocations, self.settings, self.clock) = (revocations, settings, clock)
    }

    /// Keeps the tokens of a sign-in.
    ///
    /// - Parameters:
    ///   - nonce: `nil` if the request could carry none, as for a device code (RFC 8628).
    ///   - requirements: the person that had to sign in; another person's tokens are not kept.
    ///   - erasures: those since the sign-in began.
    ///   - proofKey: the key whose proof was sent.
    func keepSignedIn(
        _ response: TokenResponse, for recipient: TokenRecipient, asked: Scopes, sent: Scopes, nonce: String?,
        requirements: SignInRequirements, amid erasures: ErasureMark,
        at authority: Authority, metadata: ProviderMetadata, proofKey: ProofKey?
    ) async throws(BrokerError) -> AcquiredToken {
        // Lifetimes count from here: the provider's keys and UserInfo may take long.
        let arrival = clock.now
        var identity: TokenIdentity?
        let filed: GrantFiling.Filed
        do throws(BrokerError) {
            try ProofKeys.check(response.tokenType, for: recipient.tokenType, at: authority)
            let claims = try await identities.claims(
                in: response, for: recipient.app, nonce: nonce, at: authority, metadata: metadata, proofKey: proofKey)
            let named = TokenIdentity(claims, clientInfo: response.clientInfo, at: authority)
            identity = named
            try requirements.check(
                home: named.homeAccountID, environment: authority.environment,
                username: ProfileClaims.username(in: claims),
                authenticatedAt: claims.all["auth_time"]?.integerValue)
            try requirements.check(acr: claims["acr"])
            try checkRoom(for: named, of: recipient, at: authority)
            var context = context(recipient, authority, asked, sent, proofKey, now: arrival)
            context.grantNarrows = try grantNarrows(of: named, for: recipient, at: authority)
            context.nonce = nonce
            let granted = try Self.required(
                GrantedTokens(
                    response, claims: claims, known: try known(named, to: recipient, at: authority), context: context))
            filed = try await filing.file(
                granted, of: response, for: recipient, erasures: erasures, proofKey: proofKey)
        } catch {
            discard(DiscardedTokens(response), for: recipient, of: identity, at: metadata)
            throw error
        }
        var answer = try filing.answer(filed, of: response, for: recipient, refusal: .serverDeclinedScopes)
        if response.refreshToken == nil {
            // From memory, which has just taken the grant: a sign-in that is kept does not fail any more.
            let owner = OwnerKey(partition: recipient.partition, owner: filed.granted.accessToken.owner)
            answer.renewable = cache.index.tokens(of: owner)?.refreshTokens.isEmpty != true
        }
        return answer
    }

    /// Revokes the tokens of a sign-in that is refused after all, or that nobody waits for any more.
    ///
    /// Some providers end everything that a person granted the client together with one token (decision 18): if the broker holds
    /// some of it, the new tokens are dropped instead.
    ///
    /// - Parameter identity: the person; `nil` if unknown, and then it may be any person of the client.
    func discard(
        _ tokens: DiscardedTokens, for recipient: TokenRecipient, of identity: TokenIdentity? = nil,
        at metadata: ProviderMetadata
    ) {
        // If the vault cannot be read, it may hold such a token.
        let holdsGrant = try? holdsGrant(of: identity, for: recipient, at: metadata.authority)
        guard holdsGrant == false else { return }
        revocations.revoke(tokens, of: recipient.app, at: metadata)
    }

    /// Whether any group has a refresh token of the person for this client.
    private func holdsGrant(
        of identity: TokenIdentity?, for recipient: TokenRecipient, at authority: Authority
    ) throws(BrokerError) -> Bool {
        try cache.reading { () throws(VaultError) in
            for owner in try cache.index.loadEveryOwner(in: recipient.partition)
            where owner.environment == authority.environment
                && (identity.map { owner.homeAccountID == $0.homeAccountID } ?? true)
                && (owner.clientID.isExactly(recipient.app.clientID) || owner.clientID.isEmpty)
            {
                let tokens = try cache.index.loadTokens(of: .init(partition: recipient.partition, owner: owner))
                if !tokens.refreshTokens.isEmpty { return true }
            }
            return false
        }
    }

    /// Keeps the tokens of a refresh. The new refresh token is kept even if the rest of the response is unusable: the old one is
    /// spent.
    ///
    /// - Parameters:
    ///   - contexts: the authentication contexts of which one is required (``ClaimsRule/essentialContexts(in:)``).
    ///
    /// Not inlined: a task that waits for a provider would hold the memory for all this for as long.
    @inline(never)
    func keepRefreshed(
        _ response: TokenResponse, for recipient: TokenRecipient, asked: Scopes, sent: Scopes,
        replacing spent: StoredRecord<RefreshTokenRecord>, of entry: KnownAccount, at authority: Authority,
        realm: String, metadata: ProviderMetadata,
        contexts: [String]? = nil, proofKey: ProofKey? = nil
    ) async throws(BrokerError) -> AcquiredToken {
        // As in keepSignedIn.
        let arrival = clock.now
        let precondition = salvage.precondition(spending: spent, by: recipient.app)
        let rescue = SalvagedRefreshToken(
            tokens: DiscardedTokens(response), type: response.tokenType, sent: sent, metadata: metadata,
            precondition: precondition)
        do throws(BrokerError) {
            try ProofKeys.check(response.tokenType, for: recipient.tokenType, at: authority)
        } catch {
            let isBound = response.tokenType == .dpop || recipient.app.bindsRefreshToken(at: metadata)
            await salvage.keep(rescue, proofKey: isBound ? proofKey : nil)
            throw error
        }
        let filed: GrantFiling.Filed
        do throws(BrokerError) {
            var claims: IDTokenClaims?
            if let idToken = response.idToken {
                claims = try await identities.verified(
                    idToken, for: recipient.app, isSignIn: false, earlierNonce: spent.record.nonce, authority,
                    metadata)
            }
            let granted = try refreshed(
                response, claims, for: recipient, of: entry.stored.record, in: realm, spending: spent.record,
                among: contexts, context(recipient, authority, asked, sent, proofKey, now: arrival))
            filed = try await filing.file(
                granted, of: response, for: recipient, precondition: precondition, proofKey: proofKey)
        } catch {
            await salvage.keep(rescue, proofKey: proofKey)
            throw error
        }
        return try filing.answer(
            filed, of: response, for: recipient, precondition: precondition, refusal: .interactionRequired)
    }

    /// Keeps the refresh token of a response to a refresh that is unusable otherwise.
    func keepRefreshTokenOnly(
        _ rest: RejectedTokenResponse, for recipient: TokenRecipient, sent: Scopes,
        replacing spent: StoredRecord<RefreshTokenRecord>, proofKey: ProofKey?, at metadata: ProviderMetadata
    ) async {
        let rescue = SalvagedRefreshToken(
            tokens: DiscardedTokens(rest), type: rest.tokenType, sent: sent, metadata: metadata,
            precondition: salvage.precondition(spending: spent, by: recipient.app))
        await salvage.keep(rescue, proofKey: proofKey)
    }

    /// - Parameters:
    ///   - claims: the claims of the verified ID token, if there is one.
    ///   - account: the account whose refresh token was redeemed.
    ///   - realm: the requested tenant.
    ///   - contexts: the authentication contexts of which one is required.
    /// - Throws: if these are another person's tokens, or do not meet the request.
    ///
    /// Not inlined, as ``keepRefreshed(_:for:asked:sent:replacing:of:at:realm:metadata:contexts:proofKey:)``.
    @inline(never)
    private func refreshed(
        _ response: TokenResponse, _ claims: IDTokenClaims?, for recipient: TokenRecipient,
        of account: AccountRecord, in realm: String, spending spent: RefreshTokenRecord, among contexts: [String]?,
        _ context: GrantedTokens.Context
    ) throws(BrokerError) -> GrantedTokens {
        let authority = context.authority
        var (context, identity) = (context, TokenIdentity(homeAccountID: account.homeAccountID, realm: realm))
        context.refreshing = account
        if let claims {
            guard
                let same = TokenIdentity(
                    refreshed: claims, clientInfo: response.clientInfo, of: account, at: authority)
            else {
                throw BrokerError(
                    .invalidResponse,
                    "\(authority.environment) answered a refresh with another person's ID token; sign in again.")
            }
            identity = same
        }
        try SignInRequirements.checkRefreshed(acr: claims?["acr"], among: contexts)
        try checkRoom(for: identity, of: recipient, at: authority)
        let known = try known(identity, to: recipient, at: authority) ?? account.moved(to: realm)
        return try Self.required(GrantedTokens(response, claims: claims, known: known, spent: spent, context: context))
    }

    private static func required(_ granted: GrantedTokens?) throws(BrokerError) -> GrantedTokens {
        guard let granted else {
            throw BrokerError(.internal, "The account of a token response could not be determined; sign in again.")
        }
        return granted
    }

    /// The group's record of the person in this tenant; for a new tenant, only since when the group knows the person.
    private func known(
        _ identity: TokenIdentity, to recipient: TokenRecipient, at authority: Authority
    ) throws(BrokerError) -> AccountRecord? {
        let person = KnownAccounts.PersonKey(
            homeAccountID: identity.homeAccountID, environment: authority.environment)
        let profiles = try cache.accounts(of: recipient.app, in: recipient.partition).profiles(of: person)
            .map(\.stored.record)
        if let same = profiles.first(where: { $0.realm == identity.realm }) { return same }
        return profiles.first.map { $0.moved(to: identity.realm) }
    }

    /// Checks that there is room for a new account. A provider, or a person signing in, can name any number of people; a new one is
    /// refused rather than an existing one evicted.
    ///
    /// - Throws: `throttled` for one more than the group has room for.
    private func checkRoom(
        for identity: TokenIdentity, of recipient: TokenRecipient, at authority: Authority
    ) throws(BrokerError) {
        let accounts = try cache.accounts(of: recipient.app, in: recipient.partition)
        guard accounts.isFull else { return }
        let person = KnownAccounts.PersonKey(
            homeAccountID: identity.homeAccountID, environment: authority.environment)
        guard !accounts.profiles(of: person).contains(where: { $0.stored.record.realm == identity.realm }) else {
            return
        }
        throw BrokerError(
            .throttled,
            "\(recipient.app.name) has reached the limit of accounts for one app; remove some with brokerctl accounts forget."
        )
    }

    /// Whether the provider is known to narrow grants, from the person's earlier grant; `nil` if that is unknown.
    private func grantNarrows(
        of identity: TokenIdentity, for recipient: TokenRecipient, at authority: Authority
    ) throws(BrokerError) -> Bool? {
        let owner = TokenOwner(of: identity.homeAccountID, at: authority.environment, for: recipient.app)
        let tokens = try cache.tokens(of: .init(partition: recipient.partition, owner: owner))
        return tokens.refreshTokens.contains { $0.record.grantNarrows == true } ? true : nil
    }

    private func context(
        _ recipient: TokenRecipient, _ authority: Authority, _ asked: Scopes, _ sent: Scopes, _ proofKey: ProofKey?,
        now: NumericDate
    ) -> GrantedTokens.Context {
        GrantedTokens.Context(
            app: recipient.app, authority: authority, asked: asked, sent: sent, resources: recipient.resources,
            now: now, defaultLifetime: settings.value.defaultLifetime, proofKeyThumbprint: proofKey?.thumbprint)
    }
}

extension AccountRecord {
    /// The person in a tenant that is not known yet.
    fileprivate func moved(to realm: String) -> AccountRecord {
        guard realm != self.realm else { return self }
        var record = self
        record.realm = realm
        record.tenantID = tenantID == nil ? nil : realm
        record.authority =
            authority.hasSuffix("/" + self.realm) ? authority.dropLast(self.realm.count) + realm : authority
        (record.claims, record.domainNames, record.extra) = ([:], nil, nil)
        return record
    }
}
