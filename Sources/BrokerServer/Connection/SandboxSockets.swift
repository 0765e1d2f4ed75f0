import BrokerAccess
import BrokerModel
import BrokerRPC
import BrokerSocket
import BrokerValues
import Logging
import Synchronization

/// The sockets that sandboxes have for themselves. Who connects to one is its sandbox, by construction.
package final class SandboxSockets: Sendable {
    /// One that is open.
    struct Opened: Sendable {
        let handle: String
        let sandbox: Sandbox
        let partition: Partition
        let openedBy: CallerIdentity
        /// The configuration names it: its folder stays, since it may be mounted where a restart of the broker is not seen.
        var isConfigured = false
        let path: String
        let doors: [OpenDoor]
        let openedOn: NumericDate
        let expiresOn: NumericDate?
        let listeners: [LocalListener]
    }

    /// What starts listeners for a sandbox.
    private struct Listening: Sendable {
        let main: LocalListener
        /// The broker's own protocol first.
        let fronts: [SandboxFront]
    }

    /// From the moment that there is a handle until nobody is connected any more.
    private struct Place {
        let partition: Partition
        let payer: Partition
        /// Nil while it is being opened, and from its end on.
        var opened: Opened?
        /// Also while it is being opened.
        var hasEnded = false
        var timer: Task<Void, any Error>?
        /// The connection that it ends with.
        var binding: ConnectionBinding?

        /// - Returns: what is to be shut down.
        mutating func end() -> Opened? {
            timer?.cancel()
            if let opened { binding?.remove(opened.handle) }
            defer { (hasEnded, opened, timer, binding) = (true, nil, nil, nil) }
            return opened
        }
    }

    private struct State {
        /// By handle.
        var places: [String: Place] = [:]
        /// One for each of them.
        var shares = FairQuota<Partition, String>(limit: SandboxSockets.mostInAll)
        /// Handles of those that the configuration names.
        var configured: Set<String> = []
        /// Nil before the broker listens, and when it stops.
        var listening: Listening?
    }

    /// Of all; of one person as many as are left free for others.
    private static let mostInAll = 128
    /// Where there is nobody else.
    package static let most = mostInAll / 2

    private let folders: SandboxFolders
    private let clock: any BrokerClock
    private let random: any RandomSource
    private let payer: @Sendable (Partition) -> Partition
    private let log: Logger
    private let state = Mutex(State())

    /// - Parameters:
    ///   - folders: where sockets are made.
    ///   - payer: with whom a user's sockets count together.
    package init(
        in folders: SandboxFolders, clock: any BrokerClock, random: any RandomSource,
        payer: @escaping @Sendable (Partition) -> Partition = { $0 }, log: Logger
    ) {
        self.folders = folders
        self.payer = payer
        self.clock = clock
        self.random = random
        self.log = log
    }

    /// Sockets can be opened from now on.
    ///
    /// - Parameters:
    ///   - listener: the common one, whose limits hold for all connections together.
    ///   - configured: handles of those that ``open(configured:of:)`` opens next.
    ///   - front: the broker's own protocol.
    ///   - others: each has a socket beside that one's.
    package func begin(
        beside listener: LocalListener, configured: Set<String> = [], _ front: SandboxFront, others: [SandboxFront] = []
    ) {
        let fronts = [front] + others
        folders.removeDead(fronts.map(\.fileName), except: configured)
        state.withLock { state in
            state.configured = configured
            state.listening = Listening(main: listener, fronts: fronts)
        }
    }

    /// - Parameters:
    ///   - apps: those that the sandbox may name, as they are now.
    ///   - lifetime: seconds; nil for no end.
    ///   - binding: of the connection that it ends with; nil where it outlives that.
    /// - Throws: `invalidParameter`, `throttled`, `serverUnavailable`, `unsupported`.
    func open(
        _ sandbox: Sandbox, apps: [AppRegistration], lifetime: Int64?, with binding: ConnectionBinding? = nil,
        by opener: Caller
    ) async throws(BrokerError) -> Opened {
        let opened = try await open(
            Self.handle(random.bytes(26)), SandboxBinding(sandbox, of: opener.partition, apps: apps),
            lifetime: lifetime,
            by: opener.identity)
        if let binding { await bind(opened.handle, to: binding) }
        return opened
    }

    /// Also where the connection has ended by now: then the socket does at once.
    private func bind(_ handle: String, to binding: ConnectionBinding) async {
        let isBound = state.withLock { state in
            guard state.places[handle]?.opened != nil else { return true }
            state.places[handle]?.binding = binding
            return binding.add(handle) { Task { await self.end(handle) } }
        }
        if !isBound { await end(handle) }
    }

    /// Opens what the configuration names, and ends what it names no longer. One that cannot be opened is told of in the log.
    package func open(configured wanted: [String: Sandbox], of partition: Partition) async {
        let (gone, there) = state.withLock { state in
            state.configured = Set(wanted.keys)
            let all = state.places.values.compactMap(\.opened).filter(\.isConfigured)
            let gone = all.filter { wanted[$0.handle] != $0.sandbox }.map(\.handle)
            return (gone, Set(all.map(\.handle)).subtracting(gone))
        }
        for handle in gone { await end(handle) }
        for (name, sandbox) in wanted.sorted(by: { $0.key < $1.key }) where !there.contains(name) {
            do throws(BrokerError) {
                _ = try await open(
                    name, SandboxBinding(configured: sandbox, of: partition),
                    by: CallerIdentity(tier: .unknown, id: "configuration"), isConfigured: true)
            } catch {
                log.error(
                    "a sandbox of the configuration has no socket",
                    metadata: ["sandbox": "\(name)", "cause": "\(error.message)"])
            }
        }
    }

    private func open(
        _ handle: String, _ door: SandboxBinding, lifetime: Int64? = nil, by opener: CallerIdentity,
        isConfigured: Bool = false
    ) async throws(BrokerError) -> Opened {
        let listening = try takePlace(handle, of: door.partition)
        let opened: Opened
        do throws(BrokerError) {
            opened = Opened(
                handle: handle, sandbox: door.sandbox, partition: door.partition, openedBy: opener,
                isConfigured: isConfigured, path: folders.socketPath(handle, listening.fronts[0].fileName),
                doors: listening.fronts.dropFirst().map {
                    .init(name: $0.door.rawValue, path: folders.socketPath(handle, $0.fileName))
                }, openedOn: clock.now, expiresOn: lifetime.map { clock.now + $0 },
                listeners: try await start(listening, door, handle))
        } catch {
            folders.remove(handle)
            leave(handle)
            throw error
        }
        let isWanted = state.withLock { state in
            guard state.places[handle]?.hasEnded == false else { return false }
            state.places[handle]?.opened = opened
            state.places[handle]?.timer = lifetime.map { seconds in
                Task { [clock] in
                    try await clock.sleep(for: .seconds(seconds))
                    await self.end(handle)
                }
            }
            return true
        }
        guard isWanted else {
            await shutDown(opened, within: .zero)
            // A stop leaves no place.
            guard leave(handle) else { throw Self.stopping }
            throw BrokerError(.invalidParameter, "The socket was shut down while it was opened.")
        }
        return opened
    }

    private func start(
        _ listening: Listening, _ door: SandboxBinding, _ handle: String
    ) async throws(BrokerError) -> [LocalListener] {
        var listeners: [LocalListener] = []
        do throws(SocketError) {
            for front in listening.fronts {
                let socket = try folders.bind(
                    handle, front.fileName, acceptsAnyUID: door.sandbox.acceptsAnyUID)
                listeners.append(try await listening.main.startAnother(socket, service: front.serving(door)))
            }
            return listeners
        } catch {
            for listener in listeners { await listener.shutDown(within: .zero) }
            throw BrokerError(.unsupported, "The sandbox's socket cannot be had. \(error)", cause: error)
        }
    }

    /// The oldest first.
    func all(in partition: Partition) -> [Opened] {
        state.withLock { $0.places.values.filter { $0.partition == partition }.compactMap(\.opened) }
            .sorted { ($0.openedOn, $0.handle) < ($1.openedOn, $1.handle) }
    }

    /// Returns when the last connection is cut off.
    func close(_ handle: String, in partition: Partition) async throws(BrokerError) {
        guard state.withLock({ $0.places[handle]?.opened?.partition }) == partition else {
            throw BrokerError(
                .invalidParameter, "No sandbox has the handle \(handle); see brokerctl sandboxes list.")
        }
        await end(handle)
    }

    /// Opens no more, and ends all; what is under way is waited for as long as that.
    package func shutDown(within patience: Duration) async {
        let rest = state.withLock { state in
            var places = Array(state.places.values)
            state = State()
            return places.indices.compactMap { places[$0].end() }
        }
        await withTaskGroup { group in
            for opened in rest { group.addTask { await self.shutDown(opened, within: patience) } }
        }
        folders.removeEmpty()
    }

    private func end(_ handle: String) async {
        guard let opened = state.withLock({ $0.places[handle]?.end() }) ?? nil else { return }
        // Nobody is this sandbox any longer, so nothing is waited for.
        await shutDown(opened, within: .zero)
        leave(handle)
    }

    /// - Returns: whether there was such a place.
    @discardableResult
    private func leave(_ handle: String) -> Bool {
        state.withLock { state in
            guard let place = state.places.removeValue(forKey: handle) else { return false }
            state.shares.leave(for: handle, of: place.payer)
            return true
        }
    }

    private func shutDown(_ opened: Opened, within patience: Duration) async {
        await withTaskGroup { group in
            for listener in opened.listeners { group.addTask { await listener.shutDown(within: patience) } }
        }
        guard !isKept(opened), !folders.remove(opened.handle) else { return }
        log.notice(
            "the folder of a sandbox's socket stays: something else is in it", metadata: ["path": "\(opened.path)"])
    }

    private func isKept(_ opened: Opened) -> Bool {
        opened.isConfigured && state.withLock { $0.listening == nil || $0.configured.contains(opened.handle) }
    }

    private func takePlace(
        _ handle: String, of partition: Partition
    ) throws(BrokerError) -> Listening {
        let payer = payer(partition)
        let place = state.withLock { state in
            guard let listening = state.listening else { return (listening: Listening?.none, isFull: false) }
            let isFull = !state.shares.take(for: handle, of: payer)
            if !isFull { state.places[handle] = Place(partition: partition, payer: payer) }
            return (listening: listening, isFull: isFull)
        }
        guard let listening = place.listening else { throw Self.stopping }
        guard !place.isFull else {
            throw BrokerError(
                .throttled,
                "The limit of sandbox sockets is reached; close some with brokerctl sandboxes remove.",
                reason: .tooManyConnections)
        }
        return listening
    }

    private static let stopping = BrokerError(
        .serverUnavailable, "The broker is stopping; connect again in a moment.", reason: .shuttingDown)

    /// 130 bits of chance, as a name of a folder.
    private static func handle(_ bytes: [UInt8]) -> String {
        let letters = Array("abcdefghijkmnpqrstuvwxyz23456789")
        return String(bytes.map { letters[Int($0 & 31)] })
    }
}
