import BrokerModel
import BrokerTokenCache
import BrokerValues

/// Files the records of a grant durably, in one transaction, and makes the answer.
final class GrantFiling: Sendable {
    private let cache: TokenCache
    private let throttle: ThrottleBox
    private let events: EventHub
    private let clock: any BrokerClock

    init(cache: TokenCache, throttle: ThrottleBox, events: EventHub, clock: any BrokerClock) {
        (self.cache, self.throttle, self.events, self.clock) = (cache, throttle, events, clock)
    }

    struct Filed: Sendable {
        let granted: GrantedTokens
        fileprivate let kept: Kept
        let isPersisted: Bool
    }

    /// - Parameters:
    ///   - precondition: for a refresh.
    ///   - erasures: for a sign-in.
    /// - Throws: if nothing was kept.
    func file(
        _ granted: GrantedTokens, of response: TokenResponse, for recipient: TokenRecipient,
        precondition: RefreshPrecondition? = nil, erasures: ErasureMark? = nil, proofKey: ProofKey?
    ) async throws(BrokerError) -> Filed {
        let (outcome, isPersisted) = try await cache.writeTogether(in: recipient.partition) {
            [self] draft throws(VaultError) in
            try decide(granted, response, recipient, precondition, erasures, proofKey, from: draft)
        }
        return Filed(granted: granted, kept: try outcome.get(), isPersisted: isPersisted)
    }

    /// - Throws: for scopes that were not granted; the tokens are kept.
    func answer(
        _ filed: Filed, of response: TokenResponse, for recipient: TokenRecipient,
        precondition: RefreshPrecondition? = nil, refusal: ErrorKind
    ) throws(BrokerError) -> AcquiredToken {
        let (granted, kept) = (filed.granted, filed.kept)
        // Refusals of the old sign-in say nothing about the new one.
        if precondition == nil || response.refreshToken != nil {
            throttle.clear(.init(granted.account), of: granted.account.group, in: recipient.partition)
        }
        let person = person(of: kept.records, for: recipient)
        tell(recipient, of: kept.records.accessToken.record, person.account, wasSignedIn: kept.wasSignedIn)
        guard granted.declined.isEmpty else { throw Self.declined(granted, as: refusal, to: person.account) }
        var answer = AcquiredToken(
            token: kept.records.accessToken, idToken: kept.idToken, person: person, fromCache: false,
            persisted: filed.isPersisted)
        answer.idTokenEnd = kept.idTokenEnd
        return answer
    }

    fileprivate struct Kept: Sendable {
        var records: SealedGrant
        /// The response's ID token, or else an earlier one of the same tenant.
        var idToken: SealedRecord?
        var idTokenEnd: NumericDate?
        var wasSignedIn: Bool
    }

    /// Runs in the write queue.
    private func decide(
        _ granted: GrantedTokens, _ response: TokenResponse, _ recipient: TokenRecipient,
        _ precondition: RefreshPrecondition?, _ erasures: ErasureMark?, _ proofKey: ProofKey?,
        from draft: PendingChanges
    ) throws(VaultError) -> (change: CacheChange, answer: Result<Kept, BrokerError>) {
        let (app, partition) = (recipient.app, recipient.partition)
        let standing = try precondition?.standing(in: draft, boundTo: proofKey?.thumbprint)
        if let overtaken = standing?.error ?? erasures?.error(for: granted.account) {
            return (CacheChange(in: partition), .failure(overtaken))
        }
        let (account, vault) = (granted.account, cache.vault)
        let owner = OwnerKey(of: account, for: app, in: partition)
        let (known, tokens) = (try draft.loadAccounts(of: owner.group), try draft.loadTokens(of: owner))
        var record = account
        let before = known.entry(of: account)?.stored.record
        (record.currentFor, record.defaultFor) = (before?.currentFor, before?.defaultFor)
        // The app knows which account it signed in.
        if precondition == nil { record.setCurrent(clock.now, for: app) }
        let records = try SealedGrant(
            granted, of: record, response, proofKey: proofKey, spent: precondition?.spent, amid: tokens, vault: vault,
            in: partition)
        var change = records.change
        if let successor = granted.refreshToken {
            try change.share(
                successor, response.refreshToken, isFamilys: granted.familyToken != nil, from: draft, vault)
        }
        if let family = FamilyMembership.learned(
            from: response, spent: precondition?.spent.record, known: try draft.loadMembership(of: owner.client))
        {
            let metadata = try draft.index.metadata(family, of: owner.client)
            change.add(.appMetadata(.put(try vault.seal(metadata, secret: nil, in: partition))))
        }
        // Only a sign-in by the person undoes a sign-out; a refresh in flight does not.
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

    private func tell(
        _ recipient: TokenRecipient, of token: AccessTokenRecord, _ account: Account, wasSignedIn: Bool
    ) {
        func tell(_ change: EngineEvent.Change) {
            events.tell(EngineEvent(partition: recipient.partition, app: recipient.app, change))
        }
        if !wasSignedIn { tell(.account(.signedIn, account)) }
        tell(.token(.acquired, accountID: account.id, scopes: token.scopes, expiresOn: token.expiresOn))
    }

    /// The person as the group knows them after the change, with all tenants.
    private func person(of grant: SealedGrant, for recipient: TokenRecipient) -> KnownAccount {
        cache.index.accounts(of: .init(of: recipient.app, in: recipient.partition))?.entry(
            of: grant.account.stored.record)
            ?? grant.account
    }

    /// The error for scopes that were not granted. The token is cached nevertheless: a silent request for the granted scopes
    /// succeeds.
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
