import BrokerModel
import BrokerTokenCache
import BrokerValues
import Synchronization

/// Backups being sent or received: a message holds a part of one, so that they take several.
///
/// Each belongs to one person, and ends a minute after its last part, finished or not: no key and no space is held for a client
/// that went away. A lock ends all.
final class CacheTransfers: Sendable {
    enum Transfer: Sendable {
        case export(CacheExport)
        case gathered(any GatheredBackup)
    }

    fileprivate struct Place {
        let partition: Partition
        /// The transfer; `nil` while an export waits for its key.
        var transfer: Transfer?
        var lastUse: Duration
        /// Whether its passphrase is in use. The transfer does not time out meanwhile.
        var isBusy = false
        /// Ends the wait for its key.
        var cancel: @Sendable () -> Void = {}
    }

    fileprivate struct State {
        var places: [String: Place] = [:]
        /// The error for all requests while it is set.
        var refusal: BrokerError?
    }

    /// The time after its last part at which a transfer ends.
    static let patience = Duration.seconds(60)
    /// The number of transfers that a person may have at the same time.
    static let most = 4

    private let clock: any BrokerClock
    private let random: any RandomSource
    private let state = Mutex(State())

    init(clock: any BrokerClock, random: any RandomSource) {
        self.clock = clock
        self.random = random
    }

    /// - Returns: its id.
    func add(_ transfer: Transfer, in partition: Partition) throws(BrokerError) -> String {
        try add(Place(partition: partition, transfer: transfer, lastUse: clock.uptime))
    }

    /// Reserves a place for an export before any work is done. It has to be made ready or removed.
    func begin(in partition: Partition) throws(BrokerError) -> String {
        try add(Place(partition: partition, transfer: nil, lastUse: clock.uptime, isBusy: true))
    }

    private func add(_ place: Place) throws(BrokerError) -> String {
        let id = Base64URL.encode(random.bytes(16))
        try state.withLock { state throws(BrokerError) in
            if let refusal = state.refusal { throw refusal }
            if place.isBusy { try state.checkNobodyIsBusy(in: place.partition) }
            guard state.places.values.count(where: { $0.partition == place.partition }) < Self.most else {
                throw Self.throttled(
                    "\(Self.most) exports or imports are under way already; wait a minute.", for: Self.patience)
            }
            state.places[id] = place
        }
        Task { await self.watch(id) }
        return id
    }

    /// Makes the export available once it has its key.
    func ready(_ id: String, _ export: CacheExport) throws(BrokerError) {
        try state.withLock { state throws(BrokerError) in
            guard state.places[id] != nil else { throw state.refusal ?? Self.over }
            state.places[id]?.transfer = .export(export)
            state.places[id]?.letGo(at: clock.uptime)
        }
    }

    /// Reserves a complete backup for decryption; ``letGo(_:)`` releases it.
    func take(_ id: String, in partition: Partition) throws(BrokerError) -> any GatheredBackup {
        try state.withLock { state throws(BrokerError) in
            guard let place = state.places[id], place.partition == partition,
                case .gathered(let backup) = place.transfer
            else { throw state.refusal ?? Self.over }
            try state.checkNobodyIsBusy(in: partition)
            state.places[id]?.isBusy = true
            return backup
        }
    }

    func letGo(_ id: String) { state.withLock { $0.places[id]?.letGo(at: clock.uptime) } }

    /// Waits for the key derived from a passphrase, which takes long and is done one at a time. A client that goes away, a lock and
    /// a stop end the wait.
    func key<Value: Sendable>(
        for id: String, _ make: @escaping @Sendable () async throws(BackupError) -> Value
    ) async throws(BrokerError) -> Value {
        let making = Task { () async -> Result<Value, BackupError> in
            do throws(BackupError) { return .success(try await make()) } catch { return .failure(error) }
        }
        state.withLock { state in
            guard state.places[id] != nil else { return making.cancel() }
            state.places[id]?.cancel = { making.cancel() }
        }
        let made = await withTaskCancellationHandler {
            await making.value
        } onCancel: {
            making.cancel()
        }
        try requireGoing(id)
        do throws(BackupError) { return try made.get() } catch { throw BrokerError(error) }
    }

    /// - Throws: `invalidParameter` for one that has ended or is another person's.
    func transfer(_ id: String, in partition: Partition) throws(BrokerError) -> Transfer {
        let found = state.withLock { state -> Transfer? in
            guard state.places[id]?.partition == partition else { return nil }
            state.places[id]?.lastUse = clock.uptime
            return state.places[id]?.transfer
        }
        guard let found else { throw Self.over }
        return found
    }

    /// Bytes of backups that are not yet imported.
    func gatheredBytes(in partition: Partition) -> Int {
        state.withLock { state in
            state.places.values.reduce(0) { sum, place in
                guard place.partition == partition, case .gathered(let backup) = place.transfer else { return sum }
                return sum + backup.count
            }
        }
    }

    static let over = BrokerError(
        .invalidParameter, "There is no such export or import any more; start it again.")

    fileprivate static func throttled(_ text: String, for pause: Duration) -> BrokerError {
        BrokerError(.throttled, text) { $0.retryAfter = Int(pause.components.seconds) }
    }

    func remove(_ id: String) { state.withLock { $0.places[id] = nil } }

    /// - Throws: the error that ended the transfer, if any.
    func requireGoing(_ id: String) throws(BrokerError) {
        try state.withLock { state throws(BrokerError) in
            guard state.places[id] != nil else { throw state.refusal ?? Self.over }
        }
    }

    /// Ends all transfers and refuses new ones with this error; `nil` allows new ones again.
    func refuse(with error: BrokerError?) {
        let ended = state.withLock { state in
            state.refusal = error
            guard error != nil else { return [Place]() }
            defer { state.places = [:] }
            return Array(state.places.values)
        }
        for place in ended { place.cancel() }
    }

    private func watch(_ id: String) async {
        while let left = state.withLock({ state in state.places[id].map { $0.timeLeft(at: clock.uptime) } }) {
            guard left > .zero else { return remove(id) }
            do { try await clock.sleep(for: left) } catch { return remove(id) }
        }
    }
}

extension CacheTransfers.State {
    /// One passphrase per person at a time: it takes half a second of a core, and all requests share it.
    fileprivate func checkNobodyIsBusy(in partition: Partition) throws(BrokerError) {
        guard places.values.contains(where: { $0.partition == partition && $0.isBusy }) else { return }
        throw CacheTransfers.throttled(
            "An export or import is just being opened; try again in a moment.", for: .seconds(1))
    }
}

extension CacheTransfers.Place {
    fileprivate mutating func letGo(at now: Duration) { (isBusy, lastUse, cancel) = (false, now, {}) }

    fileprivate func timeLeft(at now: Duration) -> Duration {
        (isBusy ? now : lastUse) + CacheTransfers.patience - now
    }
}
