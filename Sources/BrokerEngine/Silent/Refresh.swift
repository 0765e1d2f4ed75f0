import BrokerModel
import BrokerValues
import Logging

/// One flight: spends a refresh token once, and keeps what comes back before anybody is answered.
struct Refresh: Sendable {
    let services: EngineServices
    let request: SilentRequest
    /// The cached access token that shall be renewed although it is still good.
    var replaces: [UInt8]?

    typealias LookupResult = CacheLookup.LookupResult
    typealias RefreshToken = StoredRecord<RefreshTokenRecord>

    @Sendable func run() async -> RefreshFlights.Outcome {
        while true {
            do throws(BrokerError) {
                return .success(try await attempt())
            } catch {
                // A sign-in that came in between: its refresh token has not been spent yet.
                guard error.cause is RefreshPrecondition.Replaced else { return .failure(error) }
            }
        }
    }

    private func attempt() async throws(BrokerError) -> AcquiredToken {
        // What was true when the flight was booked may have changed: an earlier flight has just rotated the token.
        let lookup = try CacheLookup(services: services).look(at: request)
        switch lookup.decision {
        case .cached(let token):
            guard token.sealed.box == replaces else { return lookup.answer(token, services) }
            let spendable = lookup.spendable
            guard !spendable.isEmpty else {
                throw SilentAcquisition(services: services).nothingToSpend(for: request, .noTokens, lookup.owner)
            }
            return try await ask(spendable, in: lookup)
        case .interact(let reason):
            throw SilentAcquisition(services: services).nothingToSpend(for: request, reason, lookup.owner)
        case .refresh(let spendable):
            do throws(BrokerError) {
                return try await ask(spendable, in: lookup)
            } catch {
                // A sign-in may have brought what was asked for while the old token was refused.
                guard error.kind == .interactionRequired, error.reason != .accountDeleted else { throw error }
                let now = try CacheLookup(services: services).look(at: request)
                guard now.owner == lookup.owner, case .cached(let token) = now.decision else { throw error }
                return now.answer(token, services)
            }
        }
    }

    /// Asks the provider, unless it has just refused the same request.
    private func ask(_ spendable: [RefreshToken], in lookup: LookupResult) async throws(BrokerError) -> AcquiredToken {
        let held = spendable
        let spendable = held.filter {
            ScopeRules.mayRefresh(
                request.scopes, resources: request.resources, spending: $0.record, at: request.target.kind)
        }
        if spendable.isEmpty, let best = held.first {
            let granted = Scopes(best.record.scopes)
            throw BrokerError(.interactionRequired, ScopeRefusal.notGrantedSentence, reason: .scopesNotGranted) {
                $0.grantedScopes = granted.subtracting(.reserved).asGiven
                $0.declinedScopes = ScopeRules.declined(asked: request.scopes, granted: granted).asGiven
            }
        }
        let same = RequestThrottle.Request(request, of: lookup.owner, spending: spendable.first)
        let now = services.clock.uptime
        if let refusal = services.throttle.with({ $0.refusal(of: same, insists: request.forceRefresh, at: now) }) {
            throw refusal
        }
        do throws(BrokerError) {
            let token = try await spend(spendable, in: lookup)
            services.refreshOutcomes.countDone()
            services.throttle.with { $0.succeeded(same) }
            return token
        } catch {
            services.refreshOutcomes.count(error.kind)
            let failedAt = services.clock.uptime
            services.throttle.with { $0.failed(same, with: error, at: failedAt) }
            throw error
        }
    }

    private enum Attempt {
        case done(AcquiredToken)
        /// Another token may do better than this one.
        case useless(RefreshToken, BrokerError, Failure)
    }

    /// What is to be noted of a token that was of no use.
    private enum Failure {
        case isDead
        /// The whole account is gone.
        case accountIsGone
        /// It is for clients of its family, which this one is not of.
        case notInFamily
    }

    private func spend(
        _ spendable: [RefreshToken], in lookup: LookupResult
    ) async throws(BrokerError) -> AcquiredToken {
        var error = request.needsThePerson(.noTokens)
        var dead: [Secret] = []
        for (place, token) in spendable.enumerated() {
            let secret = try services.reading { () throws(VaultError) in try services.vault.secret(of: token.sealed) }
            var (useless, lesson) = (token, Failure.isDead)
            // The family's token is often the app's own.
            if !dead.contains(secret) {
                switch try await spendLocked(token, secret, in: lookup) {
                case .done(let answer): return answer
                case .useless(let sent, let why, let learnt):
                    // The first says why the sign-in is over; that another token is no help either is no news.
                    if dead.isEmpty || learnt == .accountIsGone { error = why }
                    dead.append(secret)
                    (useless, lesson) = (sent, learnt)
                }
            }
            // Before the last one is gone: who finds none from then on shall hear why.
            if place == spendable.endIndex - 1, error.reason != .noTokens {
                let (holder, now) = (RequestThrottle.TokenKey(request, of: lookup.owner), services.clock.uptime)
                services.throttle.with { [error] in $0.ended(holder, with: error, at: now) }
            }
            switch lesson {
            case .isDead: await forget(useless)
            case .accountIsGone:
                await DeletedAccount(services: services, request: request).remove(
                    lookup.entry.stored.record, asToldFor: useless)
                throw error
            case .notInFamily: await remember(.outsider, lookup.owner.client)
            }
        }
        throw error
    }

    private func spendLocked(
        _ token: RefreshToken, _ secret: Secret, in lookup: LookupResult
    ) async throws(BrokerError) -> Attempt {
        let environment = token.record.owner.environment
        await services.turns.take(secret, at: environment)
        defer { services.turns.leave(secret, at: environment) }
        // The request that had the turn before may have received another token.
        let owner = CacheIndex.OwnerKey(partition: request.partition, owner: token.record.owner)
        if try !services.tokens(of: owner).holds(token), let why = RefreshPrecondition.Standing.replaced.error {
            throw why
        }
        return try await spend(token, secret, in: lookup)
    }

    private func spend(
        _ refreshToken: RefreshToken, _ secret: Secret, in lookup: LookupResult
    ) async throws(BrokerError) -> Attempt {
        let metadata = try await services.asking(lookup.destination) { () throws(ProviderError) in
            try await services.provider.metadata(of: lookup.destination)
        }
        try CloudRules.check(metadata, for: request.app)
        var extras = request.extras
        extras.parameters = request.extraParameters
        extras.home = lookup.entry.stored.record.homeAccountID
        extras.proofKey = try ProofKeys(services: services).key(
            for: request.tokenType, spending: refreshToken.record, of: lookup.tokens, at: metadata)
        let grants = TokenResponseStore(
            services: services, app: request.app, partition: request.partition, resources: request.resources,
            tokenType: request.tokenType)
        let known = ScopeRules.toRefresh(
            request.scopes, granted: Scopes(refreshToken.record.narrowedTo ?? refreshToken.record.scopes),
            earlier: Scopes(refreshToken.record.scopes),
            // The grant may be for several resources, and not every scope known at each.
            keepsWhole: refreshToken.record.grantNarrows == true && request.resources.isEmpty, at: request.target.kind)
        let asked = request.app.description.offlineAccess == false ? known.subtracting(ScopeRules.offlineAccess) : known
        // Before it leaves: whoever finds the vault after a power cut knows which token was under way (decision 74).
        let sent = await services.underWay.mark(refreshToken, in: request.partition)
        let response: TokenResponse
        do throws(ProviderError) {
            response = try await services.provider.redeem(
                .refreshToken(secret, scopes: asked), with: extras,
                as: request.app.credentials(at: lookup.destination), at: metadata)
        } catch {
            if case .unusableTokens(let rest) = error {
                await grants.keepRefreshTokenOnly(
                    rest, sent: asked, replacing: sent, proofKey: extras.proofKey, at: metadata)
            }
            return try await classify(error, of: sent, before: refreshToken, asked: asked, in: lookup)
        }
        var spent = sent
        let isReusable = response.refreshToken.map { $0 == secret } ?? true
        // It may stay, and is as good as new then: a family's token is not always replaced by the one that comes.
        if response.refreshToken == nil || sent.record.familyID != nil {
            spent = await mark(sent, from: refreshToken) {
                ($0.unansweredAt, $0.refusedAt) = (nil, nil)
                $0.isReusable = isReusable ? true : nil
            }
        }
        // For the successor, which may be the very same token.
        var record = spent.record
        record.isReusable = isReusable ? true : nil
        spent = RefreshToken(record: record, sealed: spent.sealed)
        return .done(
            try await grants.keepRefreshed(
                response, asked: request.scopes, sent: asked, replacing: spent, of: lookup.entry,
                at: lookup.destination, realm: lookup.question.realm, metadata: metadata,
                contexts: ClaimsRule.essentialContexts(in: request.claims),
                earlier: earlierIDToken(of: refreshToken, in: lookup), proofKey: extras.proofKey))
    }

    /// A family's token may be of another app's sign-in.
    private func earlierIDToken(of refreshToken: RefreshToken, in lookup: LookupResult) -> Secret? {
        guard refreshToken.record.familyID == nil,
            let idToken = lookup.tokens.idTokens[lookup.question.realm]
        else { return nil }
        return try? services.vault.secret(of: idToken)
    }

    /// - Parameters:
    ///   - sent: marked as under way.
    ///   - before: what was known of the token until then.
    /// - Throws: when the failure is not the token's.
    private func classify(
        _ error: ProviderError, of sent: RefreshToken, before: RefreshToken, asked: Scopes,
        in lookup: LookupResult
    ) async throws(BrokerError) -> Attempt {
        let refusal: OAuthRefusal
        switch error {
        case .refused(let told):
            refusal = told
        case .refusedWithoutReason(let status, _) where before.record.refusedAt != nil:
            // It was no passing trouble of something in between: the token is dead.
            refusal = OAuthRefusal(
                error: "invalid_grant", description: "The provider gave no reason.", status: status)
        case .refusedWithoutReason:
            let now = services.clock.now
            await mark(sent, from: before) { $0.refusedAt = now }
            throw ProviderErrors.brokerError(error, at: lookup.destination)
        default:
            if !error.mayHaveReplacedTheToken { await mark(sent, from: before) }
            throw ProviderErrors.brokerError(error, at: lookup.destination)
        }
        let now = services.clock.now
        var circumstances = RefreshRefusal.Circumstances()
        circumstances.refusedScopes = ScopeRefusal(
            asked: request.scopes, sent: asked, spending: before.record, at: request.target.kind)
        circumstances.sentClaims = request.claims != nil
        circumstances.answerWasLost = before.record.unansweredAt != nil || refusal.isOfSecondTry
        circumstances.isAtHome = lookup.isAtHome
        if case .refusedWithoutReason = error { circumstances.isSecondWithoutReason = true }
        circumstances.isReusable = before.record.isReusable == true && !before.record.isRefusedForLong(at: now)
        let meaning = RefreshRefusal(refusal, circumstances, at: lookup.destination)
        if meaning.isClientMismatch, before.record.familyID != nil {
            return .useless(await mark(sent, from: before), request.needsThePerson(.noTokens), .notInFamily)
        }
        guard meaning.fate == .dead else {
            await mark(sent, from: before) {
                if meaning.showsNarrowing { $0.grantNarrows = true }
                $0.refusedAt = meaning.fate == .doubtful ? $0.refusedAt ?? now : nil
            }
            throw meaning.error
        }
        return .useless(sent, meaning.error, meaning.isAccountGone ? .accountIsGone : .isDead)
    }

    // MARK: What becomes of a token

    /// Removes the refresh token, but only the one that was sent: a sign-in may have brought a new one meanwhile.
    private func forget(_ dead: RefreshToken) async {
        let owner = CacheIndex.OwnerKey(partition: request.partition, owner: dead.record.owner)
        let vault = services.vault
        await write("a dead refresh token could not be removed") { draft throws(VaultError) in
            let tokens = try draft.loadTokens(of: owner)
            guard tokens.holds(dead) else { return (CacheChange(in: owner.partition), ()) }
            var change = CacheChange(in: owner.partition, [.refreshToken(.delete(dead))])
            for token in tokens.accessTokens.map(\.stored) where token.record.isOfEndedSignIn != true {
                var record = token.record
                record.isOfEndedSignIn = true
                let secret = try vault.secret(of: token.sealed)
                change.add(.accessToken(.put(try vault.seal(record, secret: secret, in: owner.partition))))
            }
            return (change, ())
        }
        let (person, environment) = (owner.owner.homeAccountID, owner.owner.environment)
        guard let id = try? services.vault.accountID(of: person, at: environment, in: owner.partition) else { return }
        services.events.tell(
            EngineEvent(
                partition: owner.partition, app: request.app,
                .token(.refreshTokenRejected, accountID: id, scopes: dead.record.scopes, expiresOn: nil)))
    }

    /// Notes durably what is known of this token without replacing it: that an answer is missing (it is tried again, but no
    /// one shall wonder if it is dead), or what it is good for.
    ///
    /// - Parameters:
    ///   - earlier: what the change begins with. If nothing changes, that very record is put back: failures are remembered by it.
    /// - Returns: the token as it is from now on.
    @discardableResult
    private func mark(
        _ sent: RefreshToken, from earlier: RefreshToken? = nil,
        _ change: @escaping @Sendable (inout RefreshTokenRecord) -> Void = { _ in }
    ) async -> RefreshToken {
        let owner = CacheIndex.OwnerKey(partition: request.partition, owner: sent.record.owner)
        let (earlier, vault) = (earlier ?? sent, services.vault)
        return await write("a refresh token could not be marked") { draft throws(VaultError) in
            let unchanged = CacheChange(in: owner.partition)
            guard try draft.loadTokens(of: owner).holds(sent) else { return (unchanged, sent) }
            var (record, marked) = (earlier.record, earlier)
            change(&record)
            if record != earlier.record {
                marked = try vault.seal(record, secret: try vault.secret(of: sent.sealed), in: owner.partition)
            }
            guard marked.sealed.box != sent.sealed.box else { return (unchanged, sent) }
            return (CacheChange(in: owner.partition, [.refreshToken(.put(marked))]), marked)
        } ?? sent
    }

    private func remember(_ membership: FamilyMembership, _ client: CacheIndex.ClientKey) async {
        let vault = services.vault
        await write("an app's family could not be noted") { draft throws(VaultError) in
            let metadata = try vault.seal(
                try draft.index.metadata(membership, of: client), secret: nil, in: client.partition)
            return (CacheChange(in: client.partition, [.appMetadata(.put(metadata))]), ())
        }
    }

    /// - Returns: nil when nothing was changed.
    @discardableResult
    private func write<Answer: Sendable>(
        _ complaint: Logger.Message,
        _ decide: @escaping @Sendable (PendingChanges) throws(VaultError) -> (change: CacheChange, answer: Answer)
    ) async -> Answer? {
        do throws(VaultError) {
            return try await services.writer.writeTogether(in: request.partition, decide).answer
        } catch {
            services.log.error(complaint, metadata: ["cause": "\(error)"])
            return nil
        }
    }
}

extension ProviderError {
    /// The provider had the refresh token, and what it gave for it did not arrive.
    fileprivate var mayHaveReplacedTheToken: Bool {
        switch self {
        case .outcomeUnknown: true
        // Without a status the answer was too large, or no HTTP: what it said nobody knows.
        case .invalidResponse(let status, _): status == nil || status == 200
        // The gateway got no answer of the provider's, or not in time (RFC 9110, sections 15.6.3 and 15.6.5).
        case .unavailable(let status, _, _): status == 502 || status == 504
        default: false
        }
    }
}
