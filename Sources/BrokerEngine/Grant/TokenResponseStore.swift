import BrokerModel
import BrokerValues
import Logging

/// Takes a token answer: checks the ID token, files everything durably in one transaction, and makes the result.
struct TokenResponseStore: Sendable {
    let services: EngineServices
    let app: AppRegistration
    let partition: Partition
    /// Where the token that was asked for is good.
    var resources: [String] = []
    /// What the app asked for.
    var tokenType = TokenType.bearer

    /// After a person signed in.
    ///
    /// - Parameters:
    ///   - nonce: nil where the request could carry none, as that for a device code (RFC 8628).
    ///   - requirements: who had to sign in; another person's tokens are not kept.
    ///   - proofKey: whose proof went along.
    func keepSignedIn(
        _ response: TokenResponse, asked: Scopes, sent: Scopes, nonce: String?,
        requirements: SignInRequirements = SignInRequirements(),
        at authority: Authority, metadata: ProviderMetadata, proofKey: ProofKey? = nil
    ) async throws(BrokerError) -> AcquiredToken {
        var identity: TokenIdentity?
        let filed: Filed
        do throws(BrokerError) {
            try ProofKeys.check(response.tokenType, for: tokenType, at: authority)
            let claims = try await person(
                in: response, nonce: nonce, at: authority, metadata: metadata, proofKey: proofKey)
            let named = TokenIdentity(claims, clientInfo: response.clientInfo, at: authority)
            identity = named
            try requirements.check(
                home: named.homeAccountID, environment: authority.environment,
                username: GrantedTokens.username(in: claims),
                authenticatedAt: claims.all["auth_time"]?.integerValue)
            try requirements.check(acr: claims["acr"])
            try checkRoom(for: named, at: authority)
            var context = context(authority, asked, sent, proofKey)
            context.grantNarrows = try grantNarrows(of: named, at: authority)
            let granted = try Self.told(
                GrantedTokens(response, claims: claims, known: try known(named, at: authority), context: context))
            filed = try await file(granted, of: response, proofKey: proofKey)
        } catch {
            revoke(response, of: identity, at: metadata)
            throw error
        }
        var answer = try answer(filed, of: response, refusal: .serverDeclinedScopes)
        if response.refreshToken == nil { answer.renewable = try hasRefreshToken(identity, at: authority) }
        return answer
    }

    private func hasRefreshToken(_ identity: TokenIdentity?, at authority: Authority) throws(BrokerError) -> Bool {
        guard let identity else { return false }
        let owner = TokenOwner(of: identity.homeAccountID, at: authority.environment, for: app)
        return try !services.tokens(of: .init(partition: partition, owner: owner)).refreshTokens.isEmpty
    }

    /// Of a sign-in that is refused after all.
    ///
    /// Some providers end with one token all that a person gave the client (decision 35): where the broker holds some of it,
    /// what came now is let go instead.
    ///
    /// - Parameter identity: who it was, if that is known.
    private func revoke(_ response: TokenResponse, of identity: TokenIdentity?, at metadata: ProviderMetadata) {
        if let identity {
            do throws(BrokerError) {
                guard try !holdsGrant(of: identity, at: metadata.authority) else { return }
            } catch { return }
        }
        services.revoke(DiscardedTokens(response), of: app, at: metadata)
    }

    /// Whether some group has a refresh token of the person's for this client.
    private func holdsGrant(of identity: TokenIdentity, at authority: Authority) throws(BrokerError) -> Bool {
        try services.reading { () throws(VaultError) in
            for owner in try services.index.loadEveryOwner(in: partition)
            where owner.homeAccountID == identity.homeAccountID && owner.environment == authority.environment
                && (owner.clientID.isExactly(app.clientID) || owner.clientID.isEmpty)
            {
                let tokens = try services.index.loadTokens(of: .init(partition: partition, owner: owner))
                if !tokens.refreshTokens.isEmpty { return true }
            }
            return false
        }
    }

    /// After a refresh. The new refresh token is kept even when the rest of the answer is no good: the old one is spent.
    ///
    /// - Parameters:
    ///   - contexts: of which authentication contexts there must be one (``ClaimsRule/essentialContexts(in:)``).
    ///   - earlier: an ID token of the same sign-in.
    ///
    /// Not inlined: a task that waits for a provider would hold the memory for all this for as long.
    @inline(never)
    func keepRefreshed(
        _ response: TokenResponse, asked: Scopes, sent: Scopes, replacing spent: StoredRecord<RefreshTokenRecord>,
        of entry: KnownAccounts.Entry, at authority: Authority, realm: String, metadata: ProviderMetadata,
        contexts: [String]? = nil, earlier: Secret? = nil, proofKey: ProofKey? = nil
    ) async throws(BrokerError) -> AcquiredToken {
        let precondition = RefreshPrecondition(spending: spent, by: app, in: partition, services)
        let rescue = SalvagedRefreshToken(
            refreshToken: response.refreshToken, type: response.tokenType, sent: sent, metadata: metadata,
            precondition: precondition)
        do throws(BrokerError) {
            try ProofKeys.check(response.tokenType, for: tokenType, at: authority)
        } catch {
            let isBound = response.tokenType == .dpop || app.bindsRefreshToken(at: metadata)
            await keep(rescue, proofKey: isBound ? proofKey : nil)
            throw error
        }
        let granted: GrantedTokens
        do throws(BrokerError) {
            var claims: IDTokenClaims?
            if let idToken = response.idToken {
                claims = try await verified(idToken, isSignIn: false, earlier: earlier, authority, metadata)
            }
            granted = try refreshed(
                response, claims, of: entry.stored.record, in: realm, spending: spent.record, among: contexts,
                context(authority, asked, sent, proofKey))
        } catch {
            await keep(rescue, proofKey: proofKey)
            throw error
        }
        let filed: Filed
        do throws(BrokerError) {
            filed = try await file(granted, of: response, precondition: precondition, proofKey: proofKey)
        } catch {
            if error.reason == .signedOut {
                revokeLate(DiscardedTokens(response), precondition, at: metadata)
            } else {
                // What had to be looked up for the rest could not be.
                await keep(rescue, proofKey: proofKey)
            }
            throw error
        }
        return try answer(filed, of: response, precondition: precondition, refusal: .interactionRequired)
    }

    /// - Parameters:
    ///   - claims: of the verified ID token, if one came.
    ///   - account: whose refresh token was spent.
    ///   - realm: the tenant that was asked for.
    ///   - contexts: of which authentication contexts there must be one.
    /// - Throws: when these are another person's tokens, or not as good as was asked for.
    ///
    /// Not inlined, as ``keepRefreshed(_:asked:sent:replacing:of:at:realm:metadata:contexts:earlier:proofKey:)``.
    @inline(never)
    private func refreshed(
        _ response: TokenResponse, _ claims: IDTokenClaims?, of account: AccountRecord, in realm: String,
        spending spent: RefreshTokenRecord, among contexts: [String]?, _ context: GrantedTokens.Context
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
        try checkRoom(for: identity, at: authority)
        let known = try known(identity, at: authority) ?? account.moved(to: realm)
        return try Self.told(GrantedTokens(response, claims: claims, known: known, spent: spent, context: context))
    }

    private static func told(_ granted: GrantedTokens?) throws(BrokerError) -> GrantedTokens {
        guard let granted else {
            throw BrokerError(.internal, "The account of a token answer could not be told; sign in again.")
        }
        return granted
    }

    /// What the group knows of the person in this tenant; for a tenant that is new, since when it knows the person.
    private func known(_ identity: TokenIdentity, at authority: Authority) throws(BrokerError) -> AccountRecord? {
        let person = KnownAccounts.PersonKey(
            homeAccountID: identity.homeAccountID, environment: authority.environment)
        let profiles = try services.knownAccounts(of: app, in: partition).profiles(of: person).map(\.stored.record)
        if let same = profiles.first(where: { $0.realm == identity.realm }) { return same }
        return profiles.first.map { $0.moved(to: identity.realm) }
    }

    /// A provider, or who signs in, names people without end; those who are there lose nothing by it.
    ///
    /// - Throws: `throttled` for one more than the group has room for.
    private func checkRoom(for identity: TokenIdentity, at authority: Authority) throws(BrokerError) {
        let accounts = try services.knownAccounts(of: app, in: partition)
        guard accounts.isFull else { return }
        let person = KnownAccounts.PersonKey(
            homeAccountID: identity.homeAccountID, environment: authority.environment)
        guard !accounts.profiles(of: person).contains(where: { $0.stored.record.realm == identity.realm }) else {
            return
        }
        throw BrokerError(
            .throttled,
            "\(app.name) has as many accounts as are kept for one app; take some away with brokerctl accounts forget.")
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

    func verified(
        _ idToken: Secret, isSignIn: Bool, with accessToken: Secret? = nil, nonce: String? = nil,
        earlier: Secret? = nil,
        _ authority: Authority, _ metadata: ProviderMetadata
    ) async throws(BrokerError) -> IDTokenClaims {
        var expected = IDTokenExpectation(clientID: app.clientID, nonce: nonce)
        expected.isSignIn = isSignIn
        expected.earlier = earlier
        expected.accessToken = accessToken
        expected.clientSecret = app.credentials(at: authority).secret
        let expectation = expected
        return try await services.asking(authority) { () throws(ProviderError) in
            try await services.provider.verify(idToken: idToken, against: expectation, at: metadata)
        }
    }

    private struct Filed: Sendable {
        let granted: GrantedTokens
        let kept: Kept
        let isPersisted: Bool
    }

    /// - Throws: when nothing was kept.
    private func file(
        _ granted: GrantedTokens, of response: TokenResponse, precondition: RefreshPrecondition? = nil,
        proofKey: ProofKey?
    ) async throws(BrokerError) -> Filed {
        let (outcome, isPersisted) = try await services.writeTogether(in: partition) { draft throws(VaultError) in
            try decide(granted, response, precondition, proofKey, from: draft)
        }
        return Filed(granted: granted, kept: try outcome.get(), isPersisted: isPersisted)
    }

    /// - Throws: for scopes that were not granted; the tokens are kept.
    private func answer(
        _ filed: Filed, of response: TokenResponse, precondition: RefreshPrecondition? = nil, refusal: ErrorKind
    ) throws(BrokerError) -> AcquiredToken {
        let (granted, kept) = (filed.granted, filed.kept)
        if precondition == nil || response.refreshToken != nil { unthrottle(granted.account) }
        let person = person(of: kept.records)
        tell(of: kept.records.accessToken.record, person.account, wasSignedIn: kept.wasSignedIn)
        guard granted.declined.isEmpty else { throw Self.declined(granted, as: refusal, to: person.account) }
        var answer = AcquiredToken(
            token: kept.records.accessToken, idToken: kept.idToken, person: person, fromCache: false,
            persisted: filed.isPersisted)
        answer.idTokenEnd = kept.idTokenEnd
        return answer
    }

    private struct Kept: Sendable {
        var records: SealedGrant
        /// The answer's, or else an earlier one of the same tenant.
        var idToken: SealedRecord?
        var idTokenEnd: NumericDate?
        var wasSignedIn: Bool
    }

    /// In the write queue.
    private func decide(
        _ granted: GrantedTokens, _ response: TokenResponse, _ precondition: RefreshPrecondition?,
        _ proofKey: ProofKey?, from draft: PendingChanges
    ) throws(VaultError) -> (change: CacheChange, answer: Result<Kept, BrokerError>) {
        if let overtaken = try precondition?.standing(in: draft).error {
            return (CacheChange(in: partition), .failure(overtaken))
        }
        let (account, vault) = (granted.account, services.vault)
        let owner = CacheIndex.OwnerKey(of: account, for: app, in: partition)
        let (known, tokens) = (try draft.loadAccounts(of: owner.group), try draft.loadTokens(of: owner))
        var record = account
        let before = known.entry(of: account)?.stored.record
        (record.currentFor, record.defaultFor) = (before?.currentFor, before?.defaultFor)
        // The app knows whom it signed in.
        if precondition == nil { record.setCurrent(services.clock.now, for: app) }
        let records = try SealedGrant(
            granted, of: record, response, proofKey: proofKey, spent: precondition?.spent, amid: tokens, vault: vault,
            in: partition)
        var change = records.change
        if let successor = granted.refreshToken {
            try change.share(
                successor, response.refreshToken, isFamilys: granted.familyToken != nil, from: draft, vault)
        }
        if let family = FamilyMembership.learnt(
            from: response, spent: precondition?.spent.record, known: try draft.loadMembership(of: owner.client))
        {
            let metadata = try draft.index.metadata(family, of: owner.client)
            change.add(.appMetadata(.put(try vault.seal(metadata, secret: nil, in: partition))))
        }
        // Only a person who signs in takes a sign-out back; a refresh that was under way does not.
        if precondition == nil, let signOut = known.signOut(of: account, from: app.identity) {
            change.add(.signOut(.delete(signOut)))
        }
        let kept = Kept(
            records: records, idToken: records.idToken ?? tokens.idTokens[account.realm],
            idTokenEnd: records.idToken == nil
                ? tokens.idTokenLifetimes[account.realm]?.expiresOn : granted.idToken?.expiresOn,
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
    private func person(of grant: SealedGrant) -> KnownAccounts.Entry {
        services.index.accounts(of: .init(of: app, in: partition))?.entry(of: grant.account.stored.record)
            ?? grant.account
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
            $0.grantedScopes = granted.granted.subtracting(.reserved).asGiven
            $0.declinedScopes = granted.declined.asGiven
            $0.accounts = [account]
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
