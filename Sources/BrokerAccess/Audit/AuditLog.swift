import BrokerModel
import BrokerValues
import Logging
import Synchronization

/// What was decided and handed out, in the vault: bounded, chained, and written in batches beside the requests.
///
/// A crash loses at most what happened in the last ``writingInterval``, and the next start says so in the log.
package final class AuditLog: Sendable {
    static let writingInterval = Duration.seconds(5)
    /// Different things of one caller in a minute; what is beyond is told by method and outcome only.
    static let mostOfOneCaller = 32
    /// Different refusals in a minute, half of it of one partition at most; the rest is counted, and takes no room from what
    /// was handed out.
    static let mostRefusals = 512
    /// Callers in a minute that are told apart, a tenth of them of one partition at most.
    static let mostCallers = 10_240
    /// Entries of one partition that wait for a disk, or for the keys; the later ones are only counted.
    static let mostUnwritten = 2_048
    /// Partitions of which it is known how many entries were lost.
    static let mostLosers = 4_096

    package struct Bounds: Sendable {
        /// Blocks that are kept of one partition, of ``AuditChain/blockSize`` entries each.
        package var blocks: Int64 = 128
        /// Entries that wait or are just being counted, of all partitions, which have shares.
        package var waiting = 24_576
        /// Roughly bytes of what is kept of chains in memory; it is read again.
        package var memory = 16 << 20

        package init() {}
    }

    struct State {
        var tallies: [Key: AuditTally] = [:]
        /// In the order in which they began.
        var order: [AuditTally] = []
        /// In the minute that began then.
        var ofCaller: [Partition: [CallerIdentity: Int]] = [:]
        var callers = FairPlaces<Partition, Partition>(limit: AuditLog.mostCallers)
        var refusals = FairPlaces<Partition, CallerIdentity>(limit: AuditLog.mostRefusals)
        var minute = Duration.zero
        var isWritingScheduled = false
        /// Places of the tallies, but those of many callers, and of what is not on disk.
        var waiting: FairPlaces<Partition, CallerIdentity>
        /// Taken from the tallies, and not on disk.
        var unwritten: [Partition: [AuditEntry]] = [:]
        var lost: [Partition: Int64] = [:]
        var chains: FairCache<Partition, Partition, OpenChain>
        /// Partitions whose chains were asked to be opened since the last writing, in a run that has nothing of them yet or has let
        /// them go: where the disk refuses, once each time is enough.
        var beginning: Set<Partition> = []

        init(_ bounds: Bounds) {
            waiting = FairPlaces(limit: bounds.waiting)
            chains = FairCache(limit: bounds.memory)
        }
    }

    struct OpenChain: Sendable {
        let partition: Partition
        let chain: AuditChain
    }

    struct Key: Hashable {
        let caller: CallerIdentity
        let partition: Partition
        let event: AuditEvent
    }

    let mostBlocks: Int64
    /// Of the broker: what it begun itself is no start.
    let run: String
    let startedOn: NumericDate
    let vault: any RecordVault
    let clock: any BrokerClock
    let log: Logger
    let state: Mutex<State>
    let turns = Turns()

    package init(
        vault: any RecordVault, clock: any BrokerClock, random: any RandomSource, log: Logger, bounds: Bounds = Bounds()
    ) {
        mostBlocks = bounds.blocks
        state = Mutex(State(bounds))
        run = Base64URL.encode(random.bytes(8))
        startedOn = clock.now
        self.vault = vault
        self.clock = clock
        self.log = log
    }

    /// A token was handed out from the cache. Part of the hot path.
    ///
    /// - Parameters:
    ///   - token: as it is sealed: a refresh leaves another one under the same row key.
    ///   - event: made only when the caller was handed another token last.
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
        let (tally, schedules, begins) = state.withLock { state in
            defer { state.isWritingScheduled = true }
            state.beginMinute(at: clock.uptime)
            return (
                state.tally(event.bounded, of: caller, now: clock.now, correlationID), !state.isWritingScheduled,
                state.chains.peek(partition) == nil && state.beginning.insert(partition).inserted
            )
        }
        if begins { Task { await begin(partition) } }
        if schedules {
            Task {
                try? await clock.sleep(for: Self.writingInterval)
                await flush()
            }
        }
        return tally
    }
}

extension AuditLog.State {
    fileprivate mutating func beginMinute(at now: Duration) {
        guard now - minute >= .seconds(60) else { return }
        (minute, ofCaller) = (now, [:])
        callers = FairPlaces(limit: AuditLog.mostCallers)
        refusals = FairPlaces(limit: AuditLog.mostRefusals)
    }

    /// The tally that counts it; a flood of different things of one caller ends in few of them.
    mutating func tally(
        _ event: AuditEvent, of caller: Caller, now: NumericDate, _ correlationID: String?
    ) -> AuditTally {
        let count = ofCaller[caller.partition]?[caller.identity] ?? 0
        var event = event
        var key = AuditLog.Key(caller: caller.identity, partition: caller.partition, event: event)
        if tallies[key] == nil, count >= AuditLog.mostOfOneCaller {
            event = AuditEvent(method: event.method, outcome: event.outcome)
            event.detail = "and others"
            key = AuditLog.Key(caller: caller.identity, partition: caller.partition, event: event)
        }
        let isOfMany = tallies[key] == nil && !hasRoom(for: event, of: caller)
        if isOfMany {
            event = AuditEvent(method: event.method, outcome: event.outcome)
            key = AuditLog.Key(caller: .many, partition: caller.partition, event: event)
        }
        if let tally = tallies[key], tally.add(correlationID) { return tally }
        let tally = AuditTally(caller, event, isOfMany: isOfMany, at: now)
        _ = tally.add(correlationID)
        tallies[key] = tally
        order.append(tally)
        if !isOfMany {
            ofCaller[caller.partition, default: [:]][caller.identity] = count + 1
        }
        return tally
    }

    private mutating func hasRoom(for event: AuditEvent, of caller: Caller) -> Bool {
        let (identity, partition) = (caller.identity, caller.partition)
        guard ofCaller[partition]?[identity] != nil || callers.take(for: partition, of: partition),
            waiting.take(for: identity, of: partition)
        else { return false }
        if event.isRefusal, !refusals.take(for: identity, of: partition) {
            waiting.leave(for: identity, of: partition)
            return false
        }
        return true
    }
}

// MARK: - Counting

/// Counts how often one caller did the same, until the count is taken for the log.
package final class AuditTally: Sendable {
    let caller: Caller
    let event: AuditEvent
    /// Whether it counts what several callers did.
    let isOfMany: Bool
    private let time: NumericDate

    /// Far below zero once it was taken.
    private let count = Atomic<Int64>(0)
    /// Of the last that was counted, or one of the last.
    private let correlationID = Mutex<String?>(nil)

    init(_ caller: Caller, _ event: AuditEvent, isOfMany: Bool, at time: NumericDate) {
        self.caller = caller
        self.isOfMany = isOfMany
        self.event = event
        self.time = time
    }

    /// - Returns: false when the count was taken: the event needs another tally.
    package func add(_ correlationID: String?) -> Bool {
        guard count.add(1, ordering: .relaxed).oldValue >= 0 else { return false }
        // All connections of a program count here, each on its reactor's thread, and none waits for another.
        self.correlationID.withLockIfAvailable { $0 = correlationID }
        return true
    }

    func take() -> AuditEntry {
        let count = count.exchange(.min, ordering: .relaxed)
        let correlationID = correlationID.withLock { $0 }
        var entry = AuditEntry(time: time, method: event.method, outcome: event.outcome)
        entry.count = count
        entry.caller = isOfMany ? .many : caller.identity
        entry.facts = isOfMany ? nil : caller.facts.described
        entry.app = event.app
        entry.account = event.account
        entry.scopes = event.scopes
        entry.reason = event.reason
        entry.detail = event.detail
        entry.correlationID = correlationID
        return entry
    }
}

/// A connected caller, with the tally of the token that it was handed last: the hot path counts there.
package final class AuditedCaller: Sendable {
    package let caller: Caller
    private let last = Mutex<(token: [UInt8], app: String?, tally: AuditTally)?>(nil)

    package init(_ caller: Caller) { self.caller = caller }

    /// - Parameter token: as it is sealed.
    func count(_ token: [UInt8], as app: String?, _ correlationID: String?) -> Bool {
        last.withLock { last in
            guard let last, last.token == token, last.app == app else { return false }
            return last.tally.add(correlationID)
        }
    }

    /// What counts a token that was handed out just now; nil when it was another one.
    package func tally(of token: [UInt8], as app: String?) -> AuditTally? {
        last.withLock { last in
            guard let last, last.token == token, last.app == app else { return nil }
            return last.tally
        }
    }

    func remember(_ tally: AuditTally, of token: [UInt8], as app: String?) {
        last.withLock { $0 = (token, app, tally) }
    }
}

extension CallerIdentity {
    /// For what is counted and not told apart.
    static let many = CallerIdentity(tier: .unidentified, id: "many callers")
}
