import BrokerModel
import BrokerValues
import Logging

/// Takes a token answer: checks the ID token, files everything durably in one transaction, and makes the result.
struct GrantStore: Sendable {
    let services: EngineServices
    let app: AppRegistration
    let partition: Partition
    /// Where the token that was asked for is good.
    var resources: [String] = []

    /// After a person signed in.
    ///
    /// - Parameters:
    ///   - nonce: nil where the request could carry none, as that for a device code (RFC 8628).
    ///   - requirements: who had to sign in; another person's tokens are not kept.
    ///   - proofKey: whose proof went along: the token must then be bound to it.
    func keepSignedIn(
        _ response: TokenResponse, asked: Scopes, sent: Scopes, nonce: String?,
        requirements: SignInRequirements = SignInRequirements(),
        at authority: Authority, metadata: ProviderMetadata, proofKey: ProofKey? = nil
    ) async throws(BrokerError) -> AcquiredToken {
        guard proofKey == nil || response.tokenType == .dpop else { throw ProofKeys.unsupported(authority) }
        guard let idToken = response.idToken else {
            throw BrokerError(
                .invalidResponse,
                "\(authority.environment) sent no ID token; it must be an OpenID provider, and the client allowed to use openid."
            )
        }
        let claims = try await verified(idToken, with: response.accessToken, nonce: nonce, authority, metadata)
        let identity = TokenIdentity(claims, clientInfo: response.clientInfo, at: authority)
        try requirements.check(
            home: identity.homeAccountID, environment: authority.environment,
            username: GrantedTokens.username(in: claims),
            authenticatedAt: claims.all["auth_time"]?.integerValue)
        try requirements.check(acr: claims["acr"])
        var context = context(authority, asked, sent, proofKey)
        context.grantNarrows = try grantNarrows(of: identity, at: authority)
        let granted = GrantedTokens(
            response, claims: claims, known: try known(identity, at: authority), context: context)
        return try await keep(granted, of: response, proofKey: proofKey, refusal: .serverDeclinedScopes)
    }

    /// After a refresh. The new refresh token is kept even when the rest of the answer is no good: the old one is spent.
    ///
    /// - Parameter earlier: an ID token of the same sign-in.
    func keepRefreshed(
        _ response: TokenResponse, asked: Scopes, sent: Scopes, replacing spent: StoredRecord<RefreshTokenRecord>,
        of entry: KnownAccounts.Entry, at authority: Authority, realm: String, metadata: ProviderMetadata,
        earlier: Secret? = nil, proofKey: ProofKey? = nil
    ) async throws(BrokerError) -> AcquiredToken {
        let precondition = RefreshPrecondition(spending: spent, by: app, in: partition, services)
        guard proofKey == nil || response.tokenType == .dpop else {
            await rescue(response.refreshToken, response.tokenType, sent: sent, precondition, nil)
            throw ProofKeys.unsupported(authority)
        }
        let account = entry.stored.record
        var claims: IDTokenClaims?
        var identity = TokenIdentity(homeAccountID: account.homeAccountID, realm: realm)
        if let idToken = response.idToken {
            do throws(BrokerError) {
                let verified = try await verified(idToken, nonce: nil, earlier: earlier, authority, metadata)
                guard
                    let same = TokenIdentity(
                        refreshed: verified, clientInfo: response.clientInfo, of: account, at: authority)
                else {
                    throw BrokerError(
                        .invalidResponse,
                        "\(authority.environment) answered a refresh with another person's ID token; sign in again.")
                }
                (claims, identity) = (verified, same)
            } catch {
                await rescue(response.refreshToken, response.tokenType, sent: sent, precondition, proofKey)
                throw error
            }
        }
        var context = context(authority, asked, sent, proofKey)
        context.refreshing = account
        let known = try known(identity, at: authority) ?? account.moved(to: realm)
        let granted = GrantedTokens(
            response, claims: claims, known: known, spent: spent.record, context: context)
        return try await keep(
            granted, of: response, precondition: precondition, proofKey: proofKey, refusal: .interactionRequired)
    }

    /// What the group knows of the person in this tenant; for a tenant that is new, since when it knows the person.
    private func known(_ identity: TokenIdentity, at authority: Authority) throws(BrokerError) -> AccountRecord? {
        let person = KnownAccounts.PersonKey(
            homeAccountID: identity.homeAccountID, environment: authority.environment)
        let profiles = try services.knownAccounts(of: app, in: partition).profiles(of: person).map(\.stored.record)
        if let same = profiles.first(where: { $0.realm == identity.realm }) { return same }
        return profiles.first.map { $0.moved(to: identity.realm) }
    }

    /// What was learnt by the person's earlier grant is a habit of the provider, and holds for the next one.
    private func grantNarrows(of identity: TokenIdentity, at authority: Authority) throws(BrokerError) -> Bool? {
        let owner = TokenOwner(of: identity.homeAccountID, at: authority.environment, for: app)
        let tokens = try services.tokens(of: .init(partition: partition, owner: owner))
        return tokens.refreshTokens.contains { $0.record.grantNarrows == true } ? true : nil
    }

    private func context(
        _ authority: Authority, _ asked: Scopes, _ sent: Scopes, _ proofKey: ProofKey?
    ) -> GrantedTokens.Context {
        GrantedTokens.Context(
            app: app, authority: authority, asked: asked, sent: sent, resources: resources, now: services.clock.now,
            defaultLifetime: services.settings().defaultLifetime, proofKeyThumbprint: proofKey?.thumbprint)
    }

    private func verified(
        _ idToken: Secret, with accessToken: Secret? = nil, nonce: String?, earlier: Secret? = nil,
        _ authority: Authority, _ metadata: ProviderMetadata
    ) async throws(BrokerError) -> IDTokenClaims {
        var expected = IDTokenExpectation(clientID: app.clientID, nonce: nonce)
        expected.earlier = earlier
        expected.accessToken = accessToken
        expected.clientSecret = app.credentials(at: authority).secret
        let expectation = expected
        return try await services.asking(authority) { () throws(ProviderError) in
            try await services.provider.verify(idToken: idToken, against: expectation, at: metadata)
        }
    }

    private func keep(
        _ granted: GrantedTokens?, of response: TokenResponse, precondition: RefreshPrecondition? = nil,
        proofKey: ProofKey?, refusal: ErrorKind
    ) async throws(BrokerError) -> AcquiredToken {
        guard let granted else {
            throw BrokerError(.internal, "The account of a token answer could not be told; sign in again.")
        }
        let (outcome, isPersisted) = try await services.write { index throws(VaultError) in
            try decide(granted, response, precondition, proofKey, from: index)
        }
        let kept = try outcome.get()
        if precondition == nil || response.refreshToken != nil { unthrottle(granted.account) }
        let account = account(of: kept.records)
        tell(of: kept.records.accessToken.record, account, wasSignedIn: kept.wasSignedIn)
        guard granted.declined.isEmpty else { throw Self.declined(granted, as: refusal, to: account) }
        return AcquiredToken(
            token: kept.records.accessToken, idToken: kept.idToken, account: account, fromCache: false,
            persisted: isPersisted)
    }

    private struct Kept: Sendable {
        var records: SealedGrant
        /// The answer's, or else an earlier one of the same tenant.
        var idToken: SealedRecord?
        var wasSignedIn: Bool
    }

    /// In the write queue.
    private func decide(
        _ granted: GrantedTokens, _ response: TokenResponse, _ precondition: RefreshPrecondition?,
        _ proofKey: ProofKey?, from index: CacheIndex
    ) throws(VaultError) -> (change: CacheChange, answer: Result<Kept, BrokerError>) {
        if let overtaken = try precondition?.standing(in: index).error {
            return (CacheChange(in: partition), .failure(overtaken))
        }
        let (account, vault) = (granted.account, services.vault)
        let owner = CacheIndex.OwnerKey(of: account, for: app, in: partition)
        let (known, tokens) = (try index.loadAccounts(of: owner.group), try index.loadTokens(of: owner))
        let records = try SealedGrant(
            granted, response, proofKey: proofKey, spent: precondition?.spent, amid: tokens, vault: vault,
            in: partition)
        var change = records.change
        if let family = FamilyMembership.learnt(
            from: response, spent: precondition?.spent.record, known: try index.loadMembership(of: owner.client))
        {
            let metadata = try index.metadata(family, of: owner.client)
            change.add(.appMetadata(.put(try vault.seal(metadata, secret: nil, in: partition))))
        }
        // Only a person who signs in takes a sign-out back; a refresh that was under way does not.
        if precondition == nil, let signOut = known.signOut(of: account, from: app.identity) {
            change.add(.signOut(.delete(signOut)))
        }
        let kept = Kept(
            records: records, idToken: records.idToken ?? tokens.idTokens[account.realm],
            wasSignedIn: precondition?.hadSignedIn(account, known) ?? known.hasSignedIn(account, for: app.identity))
        return (change, .success(kept))
    }

    private func tell(of token: AccessTokenRecord, _ account: Account, wasSignedIn: Bool) {
        func tell(_ change: EngineEvent.Change) {
            services.events.tell(EngineEvent(partition: partition, app: app, change))
        }
        if !wasSignedIn { tell(.account(.signedIn, account)) }
        tell(.token(.acquired, accountID: account.id, scopes: token.scopes, expiresOn: token.expiresOn))
    }

    /// What was refused to the old sign-in says nothing about the new one.
    private func unthrottle(_ account: AccountRecord) {
        services.throttle.with {
            $0.clear(
                group: account.group, homeAccountID: account.homeAccountID, environment: account.environment,
                in: partition)
        }
    }

    /// As the group now knows the person, with all tenants.
    private func account(of grant: SealedGrant) -> Account {
        let entry = services.index.accounts(of: .init(of: app, in: partition))?.entry(of: grant.account.record)
        return entry?.account ?? KnownAccounts.Entry(grant.account).account
    }

    /// The token is cached all the same: a request for what was granted succeeds silently.
    private static func declined(
        _ granted: GrantedTokens, as kind: ErrorKind, to account: Account
    ) -> BrokerError {
        let scopes = granted.declined.asGiven.joined(separator: ", ")
        let message =
            kind == .serverDeclinedScopes
            ? "The provider did not grant \(scopes); ask again without, or go on with what was granted."
            : "\(scopes) has not been granted yet; sign in to grant it."
        return BrokerError(kind, message, reason: kind == .interactionRequired ? .scopesNotGranted : nil) {
            $0.grantedScopes = granted.granted.asGiven
            $0.declinedScopes = granted.declined.asGiven
            $0.accounts = [account]
        }
    }

    /// Of a refresh whose answer is no good but for its refresh token.
    func keepRest(
        _ rest: UnusableTokens, sent: Scopes, replacing spent: StoredRecord<RefreshTokenRecord>, proofKey: ProofKey?
    ) async {
        let precondition = RefreshPrecondition(spending: spent, by: app, in: partition, services)
        await rescue(rest.refreshToken, rest.tokenType, sent: sent, precondition, proofKey)
    }

    /// - Parameter type: of the access token that came along; when it is not known, the new token is bound as the old one.
    private func rescue(
        _ refreshToken: Secret?, _ type: TokenType?, sent: Scopes, _ precondition: RefreshPrecondition,
        _ proofKey: ProofKey?
    ) async {
        guard let secret = refreshToken else { return }
        let isBound = type == .dpop && app.clientSecret == nil
        do throws(VaultError) {
            _ = try await services.writer.write {
                [partition, vault = services.vault, now = services.clock.now] index
                    throws(VaultError) in
                var change = CacheChange(in: partition)
                guard try precondition.standing(in: index) == .valid else { return (change, ()) }
                var record = precondition.spent.record
                record.narrowedTo = ScopeRules.narrowing(of: record, by: sent)
                record.cachedAt = now
                (record.unansweredAt, record.refusedAt) = (nil, nil)
                change.add(.refreshToken(.delete(precondition.spent)))
                if isBound, let proofKey {
                    record.keyThumbprint = proofKey.thumbprint
                    let key = ProofKeyRecord(owner: record.owner, thumbprint: proofKey.thumbprint, createdAt: now)
                    change.add(.proofKey(.put(try vault.seal(key, secret: proofKey.privateKey, in: partition))))
                }
                change.add(.refreshToken(.put(try vault.seal(record, secret: secret, in: partition))))
                return (change, ())
            }
        } catch {
            services.log.error("a rotated refresh token could not be kept", metadata: ["cause": "\(error)"])
        }
    }
}

extension AccountRecord {
    /// The person in a tenant that nothing is known of yet.
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
