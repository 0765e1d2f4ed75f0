import BrokerModel
import BrokerValues
import Logging
import Synchronization

/// The grants of people to callers: in the vault, and in memory for the hot path. Requests and refusals are in memory only: after
/// a restart callers ask again.
package final class GrantStore: Sendable {
    struct State {
        /// Evicting a person's grants also drops their open requests and refusals, so that they are asked again.
        var ledgers: PartitionMemory<PartitionGrants>
        var unwritten = Unwritten()
        /// The current ids of accounts, by their ids of earlier versions, for partitions in which such an id was found.
        var currentIDs: PartitionMemory<[String: String]>

        init(memory: Int) {
            ledgers = PartitionMemory(limit: memory) { $0.weight }
            currentIDs = PartitionMemory(limit: memory / 8) { 256 + 256 * $0.count }
        }
    }

    /// Changes that are not on disk.
    struct Unwritten {
        /// Grants that were used.
        var used: [Partition: Set<String>] = [:]
        var isWritingScheduled = false
        /// Revoked grants that are still on disk because it refused.
        var revokedNotWritten: [Partition: [GrantRecord]] = [:]
    }

    let vault: any RecordVault
    let clock: any BrokerClock
    private let random: any RandomSource
    let log: Logger
    let state: Mutex<State>
    let events = Broadcast<GrantEvent>()
    let stop: StopSignal
    let turns = Turns()

    /// - Parameters:
    ///   - memory: rough limit in bytes for the grants and requests of all people: more than one person can have.
    ///   - stop: ends waits for an answer.
    package init(
        vault: any RecordVault, clock: any BrokerClock, random: any RandomSource, memory: Int = 32 << 20,
        stop: StopSignal = StopSignal(), log: Logger
    ) {
        state = Mutex(State(memory: memory))
        self.vault = vault
        self.clock = clock
        self.random = random
        self.stop = stop
        self.log = log
    }

    package func subscribe(
        in partition: Partition, _ deliver: @escaping @Sendable (GrantEvent) -> Void
    ) -> Subscription {
        events.subscribe { if $0.partition == partition { deliver($0) } }
    }

    func observe(_ deliver: @escaping @Sendable (GrantEvent) -> Void) -> Subscription { events.subscribe(deliver) }

    // MARK: Admission

    /// The grant that admits a request of the caller, which is counted as a use. Part of the hot path.
    func use(
        by caller: Caller, as app: AppRegistration, _ reach: AppReach
    ) throws(BrokerError) -> GrantInUse? {
        let subject = GrantSubject(caller: caller.identity, app: app.identity)
        let reach = try current(reach, in: caller.partition)
        let (found, schedules) = try withLedger(of: caller.partition) { unwritten, ledger in
            let now = clock.now
            guard let grant = ledger.grant(for: subject, as: app, reach, now: now) else { return (Grant?.none, false) }
            ledger.use(grant.id, now: now)
            unwritten.used[caller.partition, default: []].insert(grant.id)
            defer { unwritten.isWritingScheduled = true }
            return (grant, !unwritten.isWritingScheduled)
        }
        if schedules { scheduleWriting() }
        return found.map { GrantInUse($0) }
    }

    /// Whether the grant is still valid, or the same was granted again: a long wait may outlive its grant.
    func holds(_ grant: GrantInUse, of caller: Caller, as app: AppRegistration) -> Bool {
        let subject = GrantSubject(caller: caller.identity, app: app.identity)
        let holds = try? withLedger(of: caller.partition) { _, ledger in
            ledger.holds(grant, of: subject, as: app, now: clock.now)
        }
        return holds == true
    }

    /// Whether a person granted the caller any part of the app; not counted as a use.
    func hasAny(of caller: Caller, as app: AppRegistration) -> Bool {
        let subject = GrantSubject(caller: caller.identity, app: app.identity)
        let has = try? withLedger(of: caller.partition) { _, ledger in
            ledger.hasAny(for: subject, as: app, now: clock.now)
        }
        return has == true
    }

    /// Records that a caller asks for a part of an app.
    ///
    /// - Throws: always: `grantRequired` with the request, `throttled` if there is no room for one more, `accessDenied`
    ///   (`grantDenied`) while a refusal is remembered, or `invalidParameter` for more than a person can be shown.
    func ask(
        for part: GrantedPart, of app: AppRegistration, by caller: Caller
    ) throws(BrokerError) -> Never {
        try GrantRules.check(part, of: app)
        let subject = GrantSubject(caller: caller.identity, app: app.identity)
        var part = part
        part.accountID = try part.accountID.map { id throws(BrokerError) in try current(id, in: caller.partition) }
        let wanted = part
        let id = newID()
        var changes: [GrantEvent] = []
        let outcome = try withLedger(of: caller.partition) { _, ledger in
            let now = clock.now
            changes = expire(&ledger, in: caller.partition, now: now)
            if let until = ledger.refusedUntil(caller.spender, as: app, now: now) {
                return GrantOutcome.refused(until - now)
            }
            let asked = ledger.ask(
                subject, by: caller.spender, for: app, wanted, facts: caller.described, id: id, now: now)
            switch asked {
            case .open(let request): return .asked(request, isNews: false)
            case .refused: return .noRoom
            case .new(let request, let replaced):
                if let replaced {
                    changes.append(GrantEvent(partition: caller.partition, change: .expired, request: replaced))
                }
                changes.append(GrantEvent(partition: caller.partition, change: .requested, request: request))
                return .asked(request, isNews: true)
            }
        }
        for event in changes { events.tell(event) }
        switch outcome {
        case .refused(let seconds): throw Self.denied(caller, app, for: seconds)
        case .noRoom: throw Self.noRoom(for: caller, app)
        case .asked(let request, let isNews):
            if isNews {
                log.notice("a caller asks for an app", metadata: ["app": "\(app.name)", "caller": "\(caller.id)"])
            }
            throw Self.required(request, caller, app)
        }
    }

    private enum GrantOutcome: Sendable {
        case refused(Int64)
        case noRoom
        case asked(GrantRequest, isNews: Bool)
    }

    private static func noRoom(for caller: Caller, _ app: AppRegistration) -> BrokerError {
        BrokerError(
            .throttled,
            "Too many requests of \(caller.id), or of sandboxes without a name, wait for an answer; answer them first (brokerctl grants list)."
        ) {
            $0.app = app.grantName
            $0.caller = caller.id
        }
    }

    private static func required(_ request: GrantRequest, _ caller: Caller, _ app: AppRegistration) -> BrokerError {
        BrokerError(
            .grantRequired,
            "\(caller.id) may not use \(app.name) yet; allow it with: brokerctl grants approve \(request.id)."
        ) {
            $0.app = request.app
            $0.caller = caller.id
            $0.grantRequest = request.id
        }
    }

    private static func denied(_ caller: Caller, _ app: AppRegistration, for seconds: Int64) -> BrokerError {
        BrokerError(
            .accessDenied,
            "\(caller.id) was refused the use of \(app.name), and is not asked about for a while; brokerctl grants approve --caller allows it all the same.",
            reason: .grantDenied
        ) {
            $0.app = app.grantName
            $0.caller = caller.id
            $0.retryAfter = Int(seconds)
        }
    }

    /// How a wait for an answer ended.
    package enum WaitEnd: Sendable {
        /// The request was answered, or no longer exists: the caller may ask again, and learns the result.
        case settled
        case timedOut
        case brokerStops
    }

    package func answer(
        to request: String, in partition: Partition, until deadline: NumericDate
    ) async -> WaitEnd {
        let end = Promise<WaitEnd>()
        let answers = subscribe(in: partition) { event in
            if event.request?.id == request, event.change != .requested { end.fulfil(.settled) }
        }
        let isOpen = state.withLock { state in
            let requests = state.ledgers.peek(partition)?.requests ?? []
            return requests.contains { $0.request.id == request }
        }
        if !isOpen { end.fulfil(.settled) }
        let timer = Task {
            try await clock.sleep(for: .seconds(max(0, deadline - clock.now)))
            end.fulfil(.timedOut)
        }
        defer {
            timer.cancel()
            withExtendedLifetime(answers) {}
        }
        return await stop.wait(for: end, stopped: .brokerStops, canceled: .timedOut)
    }

    package func deadline(in seconds: Int64) -> NumericDate { clock.now + seconds }

    /// Removes requests that were not answered in time.
    ///
    /// - Returns: the events to deliver after the lock is released.
    func expire(_ ledger: inout PartitionGrants, in partition: Partition, now: NumericDate) -> [GrantEvent] {
        ledger.takeExpired(now: now).map { open in
            GrantEvent(partition: partition, change: .expired, request: open.request)
        }
    }

    // MARK: State

    func withLedger<Value: Sendable>(
        of partition: Partition, _ body: (inout Unwritten, inout PartitionGrants) -> Value
    ) throws(BrokerError) -> Value {
        while true {
            if let done = state.withLock({ $0.use(partition, nil, body) }) { return done }
            let reading = state.withLock { $0.ledgers.beginReading(partition) }
            let read: PartitionGrants
            do throws(BrokerError) { read = try self.read(partition) } catch {
                state.withLock { $0.ledgers.end(reading) }
                throw error
            }
            if let done = state.withLock({ $0.use(partition, (reading, read), body) }) { return done }
        }
    }

    private func read(_ partition: Partition) throws(BrokerError) -> PartitionGrants {
        var records = try reading { () throws(VaultError) in
            try vault.load(GrantRecord.self, bucket: [], in: partition).map(\.record)
        }
        for place in records.indices {
            records[place].grant.caller = records[place].grant.caller.typed
            guard let id = records[place].grant.accountID else { continue }
            records[place].grant.accountID = try current(id, in: partition)
        }
        return PartitionGrants(records)
    }

    func reading<Value>(_ body: () throws(VaultError) -> Value) throws(BrokerError) -> Value {
        do throws(VaultError) { return try body() } catch {
            throw BrokerError(error, saying: "The grants could not be read; see the broker's log.", .vaultDamaged)
        }
    }

    /// A new id for a grant or a request: short enough to be typed, and without letters that look like digits.
    func newID() -> String {
        let letters = Array("abcdefghijkmnpqrstuvwxyz23456789")
        return String(random.bytes(10).map { letters[Int($0 & 31)] })
    }
}

extension GrantStore.State {
    /// - Parameter read: the grants on disk; `nil` if nothing was read.
    /// - Returns: `nil` if the grants must be read.
    fileprivate mutating func use<Value>(
        _ partition: Partition, _ read: (PartitionMemory<PartitionGrants>.Reading, PartitionGrants)?,
        _ body: (inout GrantStore.Unwritten, inout PartitionGrants) -> Value
    ) -> Value? {
        func use(_ ledgers: inout PartitionMemory<PartitionGrants>, _ unwritten: inout GrantStore.Unwritten) -> Value? {
            guard let (reading, onDisk) = read else { return ledgers.use(partition) { body(&unwritten, &$0) } }
            var ledger = onDisk
            for record in unwritten.revokedNotWritten[partition] ?? [] { _ = ledger.remove(record.grant.id) }
            return ledgers.end(reading, with: ledger) { body(&unwritten, &$0) }
        }
        return use(&ledgers, &unwritten)
    }
}
