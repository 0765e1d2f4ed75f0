import BrokerModel
import BrokerValues
import Logging
import Synchronization

/// Decisions and returned tokens, in the vault: bounded, and written in batches outside the requests.
///
/// A crash loses at most the events of the last ``writingInterval``, and the next start says so in the log.
package final class AuditLog: Sendable {
    static let writingInterval = Duration.seconds(5)
    /// The number of different refusals of one caller in a minute, and of other events. Beyond it, refusals are recorded by method
    /// and outcome only; tokens and changes also by app and account.
    static let maximumOfOneCaller = 32
    /// Tokens and changes of many callers that keep app and account.
    static let maximumOfManyCallers = 1_024
    /// The number of different refusals in a minute, at most half of them of one user. Further ones are only counted,
    /// and take no room from returned tokens.
    static let maximumRefusals = 512
    /// Callers recorded separately in a minute, at most a tenth of them of one user.
    static let maximumCallers = 10_240
    /// The number of entries of one partition that wait for the disk or for the keys. Later ones are only counted.
    static let maximumUnwritten = 2_048
    /// The number of refusals among the entries of ``maximumUnwritten``.
    static let maximumUnwrittenRefusals = 1_024
    /// Partitions with a known number of lost entries.
    static let maximumLosers = 4_096

    package struct Bounds: Sendable {
        /// Blocks kept for one partition, of ``AuditRingBlocks/blockSize`` entries each.
        package var blocks: [AuditRing: Int64] = [.changes: 48, .tokens: 48, .refusals: 32]
        /// Entries that wait or are being counted, of all partitions, which have shares.
        package var waiting = 24_576
        /// Rough size in bytes of the logs cached in memory.
        package var memory = 16 << 20

        package init() {}
    }

    struct State {
        var tallies: [Key: AuditTally] = [:]
        /// The tallies in the order in which they began.
        var order: [AuditTally] = []
        /// The usage in the minute that began at ``minute``.
        var spent: [Partition: [QuotaOwner: Spent]] = [:]
        var callers = FairQuota<Partition, Partition>(limit: AuditLog.maximumCallers)
        var refusals = FairQuota<Partition, QuotaOwner>(limit: AuditLog.maximumRefusals)
        var minute = Duration.zero
        var isWritingScheduled = false
        /// Slots of the tallies, except those of many callers, and of entries not on disk.
        var waiting: FairQuota<Partition, QuotaOwner?>
        var talliesOfMany = 0
        /// Entries taken from the tallies and not yet on disk.
        var unwritten: [Partition: Unwritten] = [:]
        var lost: [Partition: Int64] = [:]
        var audits: FairCache<Partition, Partition, LoadedAudit>
        /// Partitions whose logs were requested since the last write, in a run that has none of their entries yet or has
        /// dropped them: if the disk refuses, once per write is enough.
        var beginning: Set<Partition> = []

        init(_ bounds: Bounds) {
            waiting = FairQuota(limit: bounds.waiting)
            audits = FairCache(limit: bounds.memory)
        }
    }

    /// The number of different events of a caller in the minute.
    struct Spent {
        var refusals = 0
        var others = 0
    }

    /// The owner of an entry's slot.
    struct Payer: Sendable {
        /// The user; for a subordinate uid its owner.
        let user: Partition
        /// `nil` for an entry of many callers, or of the broker.
        let caller: QuotaOwner?
    }

    struct Unwritten {
        var entries: [(entry: AuditEntry, payer: Payer)] = []
        var refusals = 0

        func isFull(for tally: AuditTally) -> Bool {
            entries.count >= AuditLog.maximumUnwritten
                || tally.event.isRefusal && refusals >= AuditLog.maximumUnwrittenRefusals
        }
    }

    struct LoadedAudit: Sendable {
        let partition: Partition
        let audit: PartitionAudit
    }

    struct Key: Hashable {
        let caller: CallerIdentity
        /// Differs from ``caller`` if `brokerctl` asked.
        let starter: CallerIdentity
        let partition: Partition
        let event: AuditEvent

        init(_ caller: Caller, _ event: AuditEvent) {
            (self.caller, starter) = (caller.identity, caller.forApps.identity)
            (partition, self.event) = (caller.partition, event)
        }

        /// Creates a tally of several callers.
        init(ofManyIn partition: Partition, _ event: AuditEvent) {
            (caller, starter, self.partition, self.event) = (.many, .many, partition, event)
        }
    }

    let maximumBlocks: PartitionAudit.Room
    /// Identifies this run of the broker: a log that it continues itself gets no second entry for its start.
    let run: String
    let startedOn: NumericDate
    let vault: any RecordVault
    let clock: any BrokerClock
    /// The user in whose share a user's entries are.
    let payer: @Sendable (Partition) -> Partition
    let log: Logger
    let state: Mutex<State>
    /// Writing is one piece of work after the other.
    let turns = Turns()
    /// One listing of a partition at a time: a write waits for no more than one.
    let listings = KeyedLocks<Partition>()
    /// A write between two reads would look like a gap.
    let rows = KeyedLocks<Partition>()

    package init(
        vault: any RecordVault, clock: any BrokerClock, random: any RandomSource,
        payer: @escaping @Sendable (Partition) -> Partition = { $0 }, log: Logger, bounds: Bounds = Bounds()
    ) {
        maximumBlocks = bounds.blocks
        state = Mutex(State(bounds))
        run = Base64URL.encode(random.bytes(8))
        startedOn = clock.now
        self.vault = vault
        self.clock = clock
        self.payer = payer
        self.log = log
    }

    /// Counts a token returned from the cache. Part of the hot path.
    ///
    /// - Parameters:
    ///   - token: in sealed form: a refresh leaves another one under the same row key.
    ///   - event: made only if the caller last got another token.
    package func cached(
        _ token: [UInt8], as app: String?, to caller: AuditedCaller, _ correlationID: String?,
        _ event: () -> AuditEvent
    ) {
        guard !caller.count(token, as: app, correlationID) else { return }
        caller.remember(note(event(), by: caller.caller, correlationID), of: token, as: app)
    }

    @discardableResult
    package func note(_ event: AuditEvent, by caller: Caller, _ correlationID: String?) -> AuditTally {
        let partition = caller.partition
        let payer = Payer(user: payer(partition), caller: caller.spender.orAllUnnamed)
        let (tally, schedules, begins) = state.withLock { state in
            defer { state.isWritingScheduled = true }
            state.beginMinute(at: clock.uptime)
            return (
                state.tally(event.bounded, of: caller, paidBy: payer, now: clock.now, correlationID),
                !state.isWritingScheduled,
                state.audits.peek(partition) == nil && state.beginning.insert(partition).inserted
            )
        }
        if begins { Task { await begin(partition) } }
        if schedules { scheduleWriting() }
        return tally
    }

    /// Adds an action of the broker's own; it is written with the rest.
    package func note(_ event: AuditEvent, ofBrokerIn partition: Partition) {
        let payer = Payer(user: payer(partition), caller: nil)
        let schedules = state.withLock { state in
            state.add(AuditEntry(event.bounded, at: clock.now), of: partition, paidBy: payer)
            defer { state.isWritingScheduled = true }
            return !state.isWritingScheduled
        }
        if schedules { scheduleWriting() }
    }

    private func scheduleWriting() {
        Task {
            try? await clock.sleep(for: Self.writingInterval)
            await flush()
        }
    }
}

extension AuditEntry {
    fileprivate init(_ event: AuditEvent, at time: NumericDate) {
        self.init(time: time, method: event.method, outcome: event.outcome)
        (app, account, scopes) = (event.app, event.account, event.scopes)
        (reason, detail, door) = (event.reason, event.detail, event.door?.rawValue)
    }
}

extension AuditLog.State {
    fileprivate mutating func beginMinute(at now: Duration) {
        guard now - minute >= .seconds(60) else { return }
        (minute, spent) = (now, [:])
        callers = FairQuota(limit: AuditLog.maximumCallers)
        refusals = FairQuota(limit: AuditLog.maximumRefusals)
    }

    /// The tally for the event. A flood of different events of one caller is counted in a few tallies.
    mutating func tally(
        _ event: AuditEvent, of caller: Caller, paidBy payer: AuditLog.Payer, now: NumericDate,
        _ correlationID: String?
    ) -> AuditTally {
        let (partition, spender) = (caller.partition, caller.spender.orAllUnnamed)
        var event = event
        var key = AuditLog.Key(caller, event)
        if tallies[key] == nil, hasSpentAll(spender, of: partition, on: event) {
            event = event.summary("and others")
            key = AuditLog.Key(caller, event)
        }
        let isAggregate = tallies[key] == nil && !hasRoom(for: event, of: spender, in: partition, paidBy: payer.user)
        if isAggregate {
            event = event.summary()
            if talliesOfMany >= AuditLog.maximumOfManyCallers { (event.app, event.account) = (nil, nil) }
            key = AuditLog.Key(ofManyIn: partition, event)
        }
        if let tally = tallies[key], tally.add(correlationID) { return tally }
        let owner = isAggregate ? AuditLog.Payer(user: payer.user, caller: nil) : payer
        let tally = AuditTally(caller, event, payer: owner, at: now)
        _ = tally.add(correlationID)
        tallies[key] = tally
        order.append(tally)
        if isAggregate {
            talliesOfMany += 1
        } else if event.isRefusal {
            spent[partition, default: [:]][spender, default: AuditLog.Spent()].refusals += 1
        } else {
            spent[partition, default: [:]][spender, default: AuditLog.Spent()].others += 1
        }
        return tally
    }

    private func hasSpentAll(_ spender: QuotaOwner, of partition: Partition, on event: AuditEvent) -> Bool {
        guard let spent = spent[partition]?[spender] else { return false }
        return (event.isRefusal ? spent.refusals : spent.others) >= AuditLog.maximumOfOneCaller
    }

    private mutating func hasRoom(
        for event: AuditEvent, of spender: QuotaOwner, in partition: Partition, paidBy user: Partition
    ) -> Bool {
        guard spent[partition]?[spender] != nil || callers.take(for: user, of: user),
            waiting.take(for: spender, of: user)
        else { return false }
        if event.isRefusal, !refusals.take(for: spender, of: user) {
            waiting.leave(for: spender, of: user)
            return false
        }
        return true
    }

    /// Takes out the tallies of one partition, or of all.
    ///
    /// - Returns: the tallies in the order in which they began.
    mutating func removeTallies(of partition: Partition?) -> [AuditTally] {
        guard let partition else {
            defer { (tallies, order, talliesOfMany) = ([:], [], 0) }
            return order
        }
        let removed = order.filter { $0.caller.partition == partition }
        guard !removed.isEmpty else { return [] }
        order.removeAll { $0.caller.partition == partition }
        tallies = tallies.filter { $0.key.partition != partition }
        talliesOfMany -= removed.count { $0.isAggregate }
        return removed
    }
}

// MARK: - Counting

/// Counts how often one caller did the same, until the log takes the count.
package final class AuditTally: Sendable {
    let caller: Caller
    let event: AuditEvent
    let payer: AuditLog.Payer
    private let time: NumericDate

    /// The number of events; far below zero once it was taken.
    private let count = Atomic<Int64>(0)
    /// Correlation id of the last counted event, or of one of the last.
    private let correlationID = Mutex<String?>(nil)

    init(_ caller: Caller, _ event: AuditEvent, payer: AuditLog.Payer, at time: NumericDate) {
        self.caller = caller
        self.payer = payer
        self.event = event
        self.time = time
    }

    /// Whether it counts events of several callers.
    var isAggregate: Bool { payer.caller == nil }

    /// - Returns: false if the count was taken: the event needs another tally.
    package func add(_ correlationID: String?) -> Bool {
        guard count.add(1, ordering: .relaxed).oldValue >= 0 else { return false }
        // Events are counted on the reactor's thread and in tasks, and neither waits for the other.
        self.correlationID.withLockIfAvailable { $0 = correlationID }
        return true
    }

    func take(at now: NumericDate) -> AuditEntry {
        let count = count.exchange(.min, ordering: .relaxed)
        let correlationID = correlationID.withLock { $0 }
        var entry = AuditEntry(event, at: time)
        entry.count = count
        entry.until = count > 1 ? now : nil
        entry.caller = isAggregate ? .many : caller.identity
        entry.facts = isAggregate ? nil : caller.described
        entry.correlationID = correlationID
        return entry
    }
}

/// A connected caller, with the tally of the token that it got last, where the hot path counts.
package final class AuditedCaller: Sendable {
    package let caller: Caller
    package let door: Door
    private let last = Mutex<(token: [UInt8], app: String?, tally: AuditTally)?>(nil)

    package init(_ caller: Caller, by door: Door = .socket) { (self.caller, self.door) = (caller, door) }

    /// - Parameter token: in sealed form.
    func count(_ token: [UInt8], as app: String?, _ correlationID: String?) -> Bool {
        last.withLock { last in
            guard let last, last.token == token, last.app == app else { return false }
            return last.tally.add(correlationID)
        }
    }

    func remember(_ tally: AuditTally, of token: [UInt8], as app: String?) {
        last.withLock { $0 = (token, app, tally) }
    }
}

extension CallerIdentity {
    /// The caller in entries that count events of several callers.
    static let many = CallerIdentity(tier: .unidentified, id: "many callers")
}
