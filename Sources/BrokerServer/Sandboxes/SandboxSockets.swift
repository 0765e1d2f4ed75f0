import BrokerAccess
import BrokerModel
import BrokerRPC
import BrokerSocket
import BrokerValues
import Logging
import Synchronization

/// The sandboxes' own sockets. A client of one is in its sandbox, by construction.
package final class SandboxSockets: Sendable {
    /// The limit for a person if there is no other.
    package static let most = SandboxPlaces.most / 2

    /// Starts listeners for a sandbox.
    private struct Listening: Sendable {
        let main: LocalListener
        /// The broker's own protocol first.
        let fronts: [SandboxFront]
    }

    private struct State {
        var places = SandboxPlaces()
        /// Handles of the sandboxes named by the configuration.
        var configured: Set<String> = []
        /// `nil` before the broker listens, and after it stops.
        var listening: Listening?
    }

    private let folders: SandboxFolders
    private let clock: any BrokerClock
    private let random: any RandomSource
    private let payer: @Sendable (Partition) -> Partition
    private let log: Logger
    private let state = Mutex(State())

    /// - Parameters:
    ///   - folders: where sockets are made.
    ///   - payer: the user whose quota a user's sockets count against.
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

    /// Allows sockets to be opened from now on.
    ///
    /// - Parameters:
    ///   - listener: the common one, whose limits apply to all connections together.
    ///   - configured: handles that ``open(configured:of:)`` opens next.
    ///   - front: the broker's own protocol.
    ///   - others: each has a socket next to that one's.
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

    // MARK: Opening

    /// - Parameters:
    ///   - apps: the registered apps that the sandbox may name.
    ///   - lifetime: seconds; nil for no end.
    ///   - binding: the connection that it ends with; `nil` if it outlives its connection.
    /// - Throws: `invalidParameter`, `throttled`, `serverUnavailable`, `unsupported`.
    func open(
        _ sandbox: Sandbox, apps: [AppRegistration], lifetime: Int64?, with binding: ConnectionBinding? = nil,
        by opener: Caller
    ) async throws(BrokerError) -> SandboxSocket {
        let socket = try await open(
            Self.handle(random.bytes(16)), SandboxBinding(sandbox, of: opener.partition, apps: apps),
            lifetime: lifetime, by: opener.identity)
        if let binding { await bind(socket.handle, to: binding) }
        return socket
    }

    /// If the connection has ended by now, the socket ends at once.
    private func bind(_ handle: String, to binding: ConnectionBinding) async {
        let isBound = state.withLock { state in
            state.places.bind(handle, to: binding) { Task { await self.end(handle) } }
        }
        if !isBound { await end(handle) }
    }

    /// Opens the configured sandboxes, and ends those no longer configured. One that cannot be opened is logged.
    package func open(configured wanted: [String: Sandbox], of partition: Partition) async {
        let (gone, there) = state.withLock { state in
            state.configured = Set(wanted.keys)
            let all = state.places.open.filter(\.isConfigured)
            let gone = all.filter { wanted[$0.handle] != $0.sandbox }.map(\.handle)
            return (gone, Set(all.map(\.handle)).subtracting(gone))
        }
        for handle in gone { await end(handle) }
        for (name, sandbox) in wanted.sorted(by: { $0.key < $1.key }) where !there.contains(name) {
            await state.withLock { $0.places.ending(name) }?.value
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
        _ handle: String, _ binding: SandboxBinding, lifetime: Int64? = nil, by opener: CallerIdentity,
        isConfigured: Bool = false
    ) async throws(BrokerError) -> SandboxSocket {
        let listening = try takePlace(handle, of: binding.partition)
        let started: [(front: SandboxFront, listener: LocalListener)]
        do throws(BrokerError) { started = try await start(listening, binding, handle) } catch {
            folders.remove(handle)
            leave(handle)
            throw error
        }
        let socket = SandboxSocket(
            handle: handle, sandbox: binding.sandbox, partition: binding.partition, openedBy: opener,
            isConfigured: isConfigured, path: folders.socketPath(handle, listening.fronts[0].fileName),
            doors: started.dropFirst().map { (front, _) in
                OpenDoor(name: front.service.door.rawValue, path: folders.socketPath(handle, front.fileName))
            }, openedOn: clock.now, expiresOn: lifetime.map { clock.now + $0 }, listeners: started.map(\.listener))
        let isWanted = state.withLock { state in
            state.places.open(socket) { lifetime.map { end(handle, after: $0) } }
        }
        guard isWanted else {
            await shutDown(socket, within: .zero)
            // A stop removes all places.
            guard leave(handle) else { throw .stopping }
            throw BrokerError(.invalidParameter, "The socket was shut down while it was opened.")
        }
        return socket
    }

    private func takePlace(_ handle: String, of partition: Partition) throws(BrokerError) -> Listening {
        let payer = payer(partition)
        let (listening, hasRoom) = state.withLock { state in
            let listening = state.listening
            return (listening, listening != nil && state.places.take(handle, of: partition, paidBy: payer))
        }
        guard let listening else { throw .stopping }
        guard hasRoom else {
            throw BrokerError(
                .throttled,
                "The limit of sandbox sockets is reached; close some with brokerctl sandboxes remove.",
                reason: .tooManyConnections)
        }
        return listening
    }

    private func start(
        _ listening: Listening, _ binding: SandboxBinding, _ handle: String
    ) async throws(BrokerError) -> [(front: SandboxFront, listener: LocalListener)] {
        var started: [(front: SandboxFront, listener: LocalListener)] = []
        for front in listening.fronts {
            do throws(SocketError) {
                let socket = try folders.bind(
                    handle, front.fileName, acceptsAnyUID: binding.sandbox.acceptsAnyUID)
                let listener = try await listening.main.startAnother(
                    socket, service: front.service.serving(binding))
                started.append((front, listener))
            } catch {
                guard started.isEmpty else {
                    // As outside of sandboxes, the broker's own socket does without the other doors.
                    log.warning(
                        "a sandbox has no socket for another protocol",
                        metadata: ["door": "\(front.service.door.rawValue)", "cause": "\(error)"])
                    continue
                }
                throw BrokerError(.unsupported, "The sandbox's socket is not available. \(error)", cause: error)
            }
        }
        return started
    }

    /// 80 random bits, as the name of a folder: a socket's path has 107 bytes at most.
    private static func handle(_ bytes: [UInt8]) -> String {
        let letters = Array("abcdefghijkmnpqrstuvwxyz23456789")
        return String(bytes.map { letters[Int($0 & 31)] })
    }

    // MARK: The open ones

    /// Oldest first.
    func all(in partition: Partition) -> [SandboxSocket] {
        state.withLock(\.places.open).filter { $0.partition == partition }
            .sorted { ($0.openedOn, $0.handle) < ($1.openedOn, $1.handle) }
    }

    /// Returns when the last connection is cut off.
    func close(_ handle: String, in partition: Partition) async throws(BrokerError) {
        guard state.withLock({ $0.places.owner(of: handle) }) == partition else {
            throw BrokerError(
                .invalidParameter, "No sandbox has the handle \(handle); see brokerctl sandboxes list.")
        }
        await end(handle)
    }

    // MARK: The end

    /// Opens no more, and ends all; waits that long for requests in progress.
    package func shutDown(within patience: Duration) async {
        let (rest, ending) = state.withLock { state in
            (state.listening, state.configured) = (nil, [])
            return state.places.endAll()
        }
        await withTaskGroup { group in
            for socket in rest { group.addTask { await self.shutDown(socket, within: patience) } }
        }
        for end in ending { await end.value }
        folders.removeEmpty()
    }

    /// Ends all of the person's, also those that are being opened.
    func endAll(of partition: Partition) async {
        for handle in state.withLock({ $0.places.handles(of: partition) }) { await end(handle) }
    }

    private func end(_ handle: String, after seconds: Int64) -> Task<Void, any Error> {
        Task { [clock] in
            try await clock.sleep(for: .seconds(seconds))
            await self.end(handle)
        }
    }

    private func end(_ handle: String) async {
        guard let socket = state.withLock({ $0.places.end(handle) }) else { return }
        // The socket no longer stands for a sandbox, so nothing is waited for.
        await shutDown(socket, within: .zero)
        leave(handle)
    }

    /// - Returns: whether the place existed.
    @discardableResult
    private func leave(_ handle: String) -> Bool { state.withLock { $0.places.leave(handle) } }

    private func shutDown(_ socket: SandboxSocket, within patience: Duration) async {
        await withTaskGroup { group in
            for listener in socket.listeners { group.addTask { await listener.shutDown(within: patience) } }
        }
        guard !isKept(socket), !folders.remove(socket.handle) else { return }
        log.notice(
            "the folder of a sandbox's socket stays: something else is in it", metadata: ["path": "\(socket.path)"])
    }

    private func isKept(_ socket: SandboxSocket) -> Bool {
        socket.isConfigured && state.withLock { $0.listening == nil || $0.configured.contains(socket.handle) }
    }
}
