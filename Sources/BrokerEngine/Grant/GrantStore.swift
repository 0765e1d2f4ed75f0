import BrokerModel
import BrokerValues
import Logging
import Synchronization

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
        let claims = try await verified(idToken, nonce: nonce, authority, metadata)
        let identity = TokenIdentity(claims, clientInfo: response.clientInfo, at: authority)
        try requirements.check(
            home: identity.homeAccountID, environment: authority.environment,
            username: GrantedTokens.username(in: claims),
            authenticatedAt: claims.all["auth_time"]?.integerValue)
        var context = context(authority, asked, sent, proofKey)
        context.grantNarrows = try grantNarrows(of: identity, at: authority)
        let granted = GrantedTokens(
            response, claims: claims, known: try known(identity, at: authority), context: context)
        return try await keep(granted, of: response, proofKey: proofKey, refusal: .serverDeclinedScopes)
    }

    /// After a refresh. The new refresh token is kept even when the rest of the answer is no good: the old one is spent.
    func keepRefreshed(
        _ response: TokenResponse, asked: Scopes, sent: Scopes, replacing spent: StoredRecord<RefreshTokenRecord>,
        of entry: KnownAccounts.Entry, at authority: Authority, realm: String, metadata: ProviderMetadata,
        proofKey: ProofKey? = nil
    ) async throws(BrokerError) -> AcquiredToken {
        let precondition = RefreshPrecondition(spending: spent, by: app, in: partition, services)
        guard proofKey == nil || response.tokenType == .dpop else {
            await rescue(response, sent: sent, precondition, nil)
            throw ProofKeys.unsupported(authority)
        }
        let account = entry.stored.record
        var claims: IDTokenClaims?
        var identity = TokenIdentity(homeAccountID: account.homeAccountID, realm: realm)
        if let idToken = response.idToken {
            do throws(BrokerError) {
                let verified = try await verified(idToken, nonce: nil, authority, metadata)
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
                await rescue(response, sent: sent, precondition, proofKey)
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
        let profiles = try services.knownAccounts(of: app, in: partition).entries.map(\.stored.record)
            .filter { $0.homeAccountID == identity.homeAccountID && $0.environment == authority.environment }
        if let same = profiles.first(where: { $0.realm == identity.realm }) { return same }
        return profiles.first.map { $0.moved(to: identity.realm) }
    }

    /// What was learnt by the person's earlier grant is a habit of the provider, and holds for the next one.
    private func grantNarrows(of identity: TokenIdentity, at authority: Authority) throws(BrokerError) -> Bool? {
        let owner = TokenOwner(
            group: app.effectiveGroup, clientID: app.clientID, homeAccountID: identity.homeAccountID,
            environment: authority.environment)
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
        _ idToken: Secret, nonce: String?, _ authority: Authority, _ metadata: ProviderMetadata
    ) async throws(BrokerError) -> IDTokenClaims {
        try await services.asking(authority) { () throws(ProviderError) in
            try await services.provider.verify(
                idToken: idToken, against: IDTokenExpectation(clientID: app.clientID, nonce: nonce), at: metadata)
        }
    }

    private func keep(
        _ granted: GrantedTokens?, of response: TokenResponse, precondition: RefreshPrecondition? = nil,
        proofKey: ProofKey?, refusal: ErrorKind
    ) async throws(BrokerError) -> AcquiredToken {
        guard let granted else {
            throw BrokerError(.internal, "The account of a token answer could not be told; sign in again.")
        }
        let sealed = try services.reading { () throws(VaultError) in
            let client = CacheIndex.ClientKey(
                partition: partition, group: app.effectiveGroup, clientID: app.clientID,
                environment: granted.account.environment)
            let news = FamilyMembership.learnt(
                from: response, spent: precondition?.spent.record, known: try services.index.loadMembership(of: client))
            let metadata = try news.map { membership throws(VaultError) in
                try services.index.metadata(membership, of: client)
            }
            return try SealedGrant(
                granted, response, metadata: metadata, proofKey: proofKey, spent: precondition?.spent,
                vault: services.vault,
                partition: partition)
        }
        // Only a person who signs in takes a sign-out back; a refresh that was under way does not.
        let standing = Mutex(RefreshPrecondition.Standing.valid)
        let signOut =
            precondition != nil
            ? nil
            : SignOutRecord(
                group: app.effectiveGroup, app: app.identity, homeAccountID: granted.account.homeAccountID,
                environment: granted.account.environment, since: 0)
        let index = services.index
        let known = try services.knownAccounts(of: app, in: partition)
        let wasSignedIn =
            precondition?.hadSignedIn(granted.account, known) ?? known.hasSignedIn(granted.account, for: app.identity)
        let outcome = await services.writer.write { () throws(VaultError) in
            if let now = try precondition?.standing(in: index), now != .valid {
                standing.withLock { $0 = now }
                return VaultChange(in: sealed.owner.partition)
            }
            return try sealed.change(from: index, withdrawing: signOut)
        } apply: { index throws(VaultError) in
            guard standing.withLock({ $0 == .valid }) else { return }
            try sealed.apply(to: index, withdrawing: signOut)
        }
        if let overtaken = standing.withLock({ $0.error }) { throw overtaken }
        switch outcome {
        case .failure(let error): throw BrokerError(error)
        case .success(let persisted):
            if precondition == nil || response.refreshToken != nil { unthrottle(granted.account) }
            tell(of: sealed, wasSignedIn: wasSignedIn)
            guard granted.declined.isEmpty else { throw Self.declined(granted, as: refusal, to: account(of: sealed)) }
            return AcquiredToken(
                token: sealed.accessToken,
                idToken: sealed.idToken?.sealed ?? index.tokens(of: sealed.owner)?.idTokens[granted.account.realm],
                account: account(of: sealed), fromCache: false, persisted: persisted)
        }
    }

    private func tell(of sealed: SealedGrant, wasSignedIn: Bool) {
        let account = account(of: sealed)
        if !wasSignedIn {
            services.events.tell(EngineEvent(partition: partition, app: app, .account(.signedIn, account)))
        }
        let token = sealed.accessToken.record
        services.events.tell(
            EngineEvent(
                partition: partition, app: app,
                .token(.acquired, accountID: account.id, scopes: token.scopes, expiresOn: token.expiresOn)))
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
        let group = CacheIndex.GroupKey(partition: partition, group: app.effectiveGroup)
        let entry = services.index.accounts(of: group)?.entries.first {
            $0.stored.record.key == grant.account.record.key
        }
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
            : "\(scopes) has not been granted yet; ask interactively."
        return BrokerError(kind, message, reason: kind == .interactionRequired ? .scopesNotGranted : nil) {
            $0.grantedScopes = granted.granted.asGiven
            $0.declinedScopes = granted.declined.asGiven
            $0.accounts = [account]
        }
    }

    private func rescue(
        _ response: TokenResponse, sent: Scopes, _ precondition: RefreshPrecondition, _ proofKey: ProofKey?
    ) async {
        guard let secret = response.refreshToken else { return }
        let (spent, index) = (precondition.spent, services.index)
        var record = spent.record
        record.narrowedTo = ScopeRules.narrowing(of: spent.record, by: sent)
        record.cachedAt = services.clock.now
        record.unansweredAt = nil
        var key: StoredRecord<ProofKeyRecord>?
        let owner = CacheIndex.OwnerKey(partition: partition, owner: record.owner)
        do throws(VaultError) {
            if response.tokenType == .dpop, app.clientSecret == nil, let proofKey {
                record.keyThumbprint = proofKey.thumbprint
                key = try services.vault.seal(
                    ProofKeyRecord(owner: record.owner, thumbprint: proofKey.thumbprint, createdAt: record.cachedAt),
                    secret: proofKey.privateKey, in: partition)
            }
            let stored = try services.vault.seal(record, secret: secret, in: partition)
            let (newKey, isElsewhere) = (key, record.key != spent.record.key)
            let isKept = Mutex(false)
            _ = await services.writer.write { () throws(VaultError) in
                guard try precondition.standing(in: index) == .valid else { return VaultChange(in: partition) }
                isKept.withLock { $0 = true }
                return VaultChange(
                    in: partition, puts: [stored.sealed] + [newKey?.sealed].compactMap(\.self),
                    deletes: isElsewhere ? [spent.record.key] : [])
            } apply: { index throws(VaultError) in
                guard isKept.withLock({ $0 }) else { return }
                try index.update(tokens: owner) { tokens in
                    tokens.remove(spent)
                    tokens.put(stored)
                    if let newKey { tokens.proofKey = newKey }
                }
            }
        } catch {
            services.log.error("a rotated refresh token could not be sealed", metadata: ["cause": "\(error)"])
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
