import BrokerModel
import BrokerValues

/// The person's side: open requests, and answers to them.
extension GrantStore {
    package func list(in partition: Partition) throws(BrokerError) -> (grants: [Grant], requests: [GrantRequest]) {
        let now = clock.now
        var changes: [GrantEvent] = []
        let lists = try withLedger(of: partition) { _, ledger in
            changes = expire(&ledger, in: partition, now: now)
            let grants = ledger.grants.values.map(\.grant).filter { $0.isGood(at: now) }
            return (
                grants: grants.sorted { ($0.createdOn, $0.id) < ($1.createdOn, $1.id) },
                requests: ledger.requests.map(\.request)
            )
        }
        for event in changes { events.tell(event) }
        return lists
    }

    /// The app that a request is for, as it was when the caller asked, without its secret.
    package func app(of request: String, in partition: Partition) throws(BrokerError) -> AppRegistration {
        try open(request, in: partition).app
    }

    private func open(_ request: String, in partition: Partition) throws(BrokerError) -> PartitionGrants.OpenRequest {
        _ = try list(in: partition)
        let found = try withLedger(of: partition) { _, ledger in
            ledger.requests.first { $0.request.id == request }
        }
        guard let found else { throw Self.unknown("request", request) }
        return found
    }

    /// The terms that a person agrees to, in addition to the request.
    package struct Terms: Sendable {
        package var accountID: String?
        package var scopes: [String]?
        /// Seconds; `nil` for as long as the rules allow.
        package var lifetime: Int64?

        package init(accountID: String? = nil, scopes: [String]? = nil, lifetime: Int64? = nil) {
            self.accountID = accountID
            self.scopes = scopes
            self.lifetime = lifetime
        }
    }

    package func approve(
        request: String, _ terms: Terms, in partition: Partition
    ) async throws(BrokerError) -> Grant {
        let open = try open(request, in: partition)
        var terms = terms
        terms.accountID = terms.accountID ?? open.request.accountID
        terms.scopes = terms.scopes ?? open.request.scopes
        return try await approve(
            open.subject.caller, as: open.app, terms, facts: open.request.facts, in: partition)
    }

    /// Grants a caller the use of an app, also without a request.
    ///
    /// - Throws: `invalidParameter` for a caller that cannot be identified again later, and if there are too many grants.
    package func approve(
        _ caller: CallerIdentity, as app: AppRegistration, _ terms: Terms, facts: CallerFacts? = nil,
        in partition: Partition
    ) async throws(BrokerError) -> Grant {
        let caller = caller.typed
        guard caller.isLasting else {
            throw BrokerError(
                .invalidParameter,
                "\(caller.id) cannot be identified again later, so nothing can be granted to it.")
        }
        let now = clock.now
        let longest = GrantRules.longestLifetime(for: caller)
        let lifetime = terms.lifetime.map { min($0, longest ?? $0) } ?? longest
        let grant = Grant(
            id: newID(), caller: caller, app: app.grantName, accountID: terms.accountID, scopes: terms.scopes,
            createdOn: now, expiresOn: lifetime.map { now + $0 }, facts: facts)
        let record = GrantRecord(grant: grant, app: app)
        _ = try withLedger(of: partition) { _, _ in () }
        try await turns.run { [self] () async throws(BrokerError) in
            let part = GrantedPart(accountID: grant.accountID, scopes: grant.scopes)
            try await add(record, of: app, replaces: part, in: partition)
        }
        return grant
    }

    /// Writes to disk, then to memory. A grant for the same or less of the same app is replaced.
    private func add(
        _ record: GrantRecord, of app: AppRegistration, replaces part: GrantedPart, in partition: Partition
    ) async throws(BrokerError) {
        let subject = GrantSubject(record)
        let now = clock.now
        let (gone, isFull) = try withLedger(of: partition) { _, ledger in
            let replaced = ledger.grants.values.filter { GrantSubject($0) == subject && $0.grant.part == part }
            return (replaced + ledger.outdated(at: now), ledger.grants.count >= GrantRules.grants)
        }
        guard !isFull || !gone.isEmpty else {
            throw BrokerError(
                .invalidParameter,
                "There are \(GrantRules.grants) grants already; revoke some with brokerctl grants revoke.")
        }
        do throws(VaultError) {
            let sealed = try vault.seal(record, secret: nil, in: partition).sealed
            try await vault.commit(VaultChange(in: partition, puts: [sealed], deletes: gone.map(\.key)))
        } catch {
            throw Self.notWritten(error)
        }
        let changes = state.withLock { state in
            state.ledgers.write(in: partition) { ledger in
                for old in gone { _ = ledger.remove(old.grant.id) }
                ledger.put(record)
            }
            let answered = state.ledgers.use(partition) { ledger in
                ledger.forgetRefusal(of: subject.caller, as: app)
                let answered = ledger.request(of: subject)
                return answered.flatMap { ledger.take($0.id) }?.request
            }
            return GrantEvent(partition: partition, change: .approved, request: answered ?? nil, grant: record.grant)
        }
        log.notice("a grant was made", metadata: ["app": "\(record.grant.app)", "caller": "\(record.grant.caller.id)"])
        events.tell(changes)
    }

    package func deny(request: String, in partition: Partition) throws(BrokerError) {
        _ = try open(request, in: partition)
        let denied = try withLedger(of: partition) { _, ledger in
            let open = ledger.take(request)
            if let open {
                ledger.refuse(open, now: clock.now)
            }
            return open?.request
        }
        guard let denied else { throw Self.unknown("request", request) }
        log.notice("a request was denied", metadata: ["app": "\(denied.app)", "caller": "\(denied.caller.id)"])
        events.tell(GrantEvent(partition: partition, change: .denied, request: denied))
    }

    /// Revokes a grant: it admits no request from then on, even if the disk refuses the change.
    ///
    /// - Throws: `invalidParameter` for an unknown grant; `internal` (`vaultNotWritable`) if the disk refuses.
    package func revoke(_ id: String, in partition: Partition) async throws(BrokerError) {
        guard try await revoke(in: partition, where: { $0.id == id }) else { throw Self.unknown("grant", id) }
    }

    /// Revokes grants together: none of them admits a request from then on, even if the disk refuses the change.
    ///
    /// - Returns: whether there were any.
    /// - Throws: `internal` (`vaultNotWritable`) if the disk refuses.
    func revoke(
        in partition: Partition, where isMeant: (Grant) -> Bool
    ) async throws(BrokerError) -> Bool {
        let (revoked, unwritten) = try withLedger(of: partition) { unwritten, ledger in
            let earlier = unwritten.revokedNotWritten[partition] ?? []
            let revoked = ledger.grants.values.filter { isMeant($0.grant) }
            guard !revoked.isEmpty || earlier.contains(where: { isMeant($0.grant) }) else {
                return ([GrantRecord](), [GrantRecord]())
            }
            for record in revoked { _ = ledger.remove(record.grant.id) }
            let known = Set(earlier.map(\.grant.id))
            let all = earlier + revoked.filter { !known.contains($0.grant.id) }
            unwritten.revokedNotWritten[partition] = all
            return (revoked, all)
        }
        guard let one = unwritten.last?.grant.id else { return false }
        for record in revoked { events.tell(GrantEvent(partition: partition, change: .revoked, grant: record.grant)) }
        do throws(VaultError) {
            try await turns.run { [vault] () async throws(VaultError) in
                try await vault.commit(VaultChange(in: partition, deletes: unwritten.map(\.key)))
            }
        } catch {
            throw BrokerError(
                .internal,
                "What was revoked counts no more, but that could not be written: it would be back after a restart; see the broker's log, then run brokerctl grants revoke \(one) again.",
                reason: .vaultNotWritable, cause: error)
        }
        let written = Set(unwritten.map(\.grant.id))
        state.withLock { state in
            state.unwritten.revokedNotWritten[partition]?.removeAll { written.contains($0.grant.id) }
            if state.unwritten.revokedNotWritten[partition]?.isEmpty == true {
                state.unwritten.revokedNotWritten[partition] = nil
            }
            // Another task may just have read them from the disk.
            state.ledgers.write(in: partition) { ledger in for id in written { _ = ledger.remove(id) } }
        }
        for grant in unwritten.map(\.grant) {
            log.notice("a grant was revoked", metadata: ["app": "\(grant.app)", "caller": "\(grant.caller.id)"])
        }
        return true
    }

    private static func unknown(_ what: String, _ id: String) -> BrokerError {
        let shown = SafeText(id, atMost: 64, .mark).text
        return BrokerError(
            .invalidParameter, "There is no \(what) \(shown), or it has ended; see brokerctl grants list.")
    }

    private static func notWritten(_ error: VaultError) -> BrokerError {
        BrokerError(
            .internal, "The grant could not be written; see the broker's log, and try again.",
            reason: .vaultNotWritable, cause: error)
    }
}
