import BrokerModel
import BrokerSocket
import BrokerTestSupport
import Glibc
import Synchronization

/// A ``ConnectionService`` scripted by a test that counts its calls.
final class ScriptedService: ConnectionService {
    struct Counts: Equatable {
        var received = 0
        var inputEnds = 0
        var departures = 0
        var drains = 0
        var closes = 0
    }

    typealias OnLine = @Sendable (String, LocalConnection) -> Void
    typealias OnEvent = @Sendable (LocalConnection) -> Void

    private let state = Mutex(Counts())
    private let seen = Mutex<[PeerCredentials]>([])
    private let seenWriters = Mutex<[PeerCredentials]>([])
    let admission: @Sendable (PeerCredentials) -> String?
    let owner: @Sendable (PeerCredentials) -> ConnectionOwner
    /// Called while a peer is inspected.
    let looking: @Sendable (PeerCredentials) -> Void
    let onLine: OnLine
    /// `nil` closes the connection.
    let onInputEnd: OnEvent?
    let onDrain: OnEvent?

    /// `admission` gives the line for a peer that is refused, or nil.
    init(
        onLine: @escaping OnLine = { $1.say($0) },
        looking: @escaping @Sendable (PeerCredentials) -> Void = { _ in },
        admission: @escaping @Sendable (PeerCredentials) -> String? = { _ in nil },
        owner: @escaping @Sendable (PeerCredentials) -> ConnectionOwner = {
            ConnectionOwner(.process(pid: $0.pid), of: Partition(uid: 1000), mayUseReserve: true)
        },
        onInputEnd: OnEvent? = nil, onDrain: OnEvent? = nil
    ) {
        self.owner = owner
        self.looking = looking
        self.admission = admission
        self.onInputEnd = onInputEnd
        self.onDrain = onDrain
        self.onLine = onLine
    }

    private let idle = Mutex(false)
    /// The `isIdle` of every handler.
    var isIdle: Bool {
        get { idle.withLock { $0 } }
        set { idle.withLock { $0 = newValue } }
    }

    var counts: Counts { state.withLock { $0 } }
    var peers: [PeerCredentials] { seen.withLock { $0 } }
    /// The processes that connections were handed on to.
    var writers: [PeerCredentials] { seenWriters.withLock { $0 } }

    func look(at peer: PeerCredentials) -> PeerSnapshot? {
        looking(peer)
        return nil
    }

    func admit(_ connection: LocalConnection, _: PeerSnapshot?) -> ConnectionDecision {
        seen.withLock { $0.append(connection.peer) }
        if let line = admission(connection.peer) { return .refuse(Array("\(line)\n".utf8)) }
        return .serve(Handler(self, connection), owner: owner(connection.peer))
    }

    private func refusal(_ reason: ConnectionRefusal) -> [UInt8] {
        let word =
            switch reason {
            case .lineTooLong(let limit): "too long \(limit)"
            case .lineStalled: "stalled"
            case .lineCutOff: "cut off"
            case .manyWriters: "many writers"
            case .descriptors: "descriptors"
            case .tooManyConnections(let limit, let party):
                party != .everybody ? "too many of yours \(limit)" : "too many \(limit)"
            }
        return Array("\(word)\n".utf8)
    }

    private final class Handler: ConnectionHandler {
        let service: ScriptedService
        let connection: LocalConnection

        init(_ service: ScriptedService, _ connection: LocalConnection) {
            (self.service, self.connection) = (service, connection)
        }

        func received(_ line: ArraySlice<UInt8>) {
            service.state.withLock { $0.received += 1 }
            service.onLine(String(decoding: line, as: UTF8.self), connection)
        }

        func handedOn(to writer: PeerCredentials) { service.seenWriters.withLock { $0.append(writer) } }

        var isIdle: Bool { service.isIdle }

        func inputEnded() {
            service.state.withLock { $0.inputEnds += 1 }
            if let action = service.onInputEnd { action(connection) } else { connection.close() }
        }

        func peerGone() {
            service.state.withLock { $0.departures += 1 }
            connection.resumeReading()
        }

        func draining() {
            service.state.withLock { $0.drains += 1 }
            if let action = service.onDrain { action(connection) } else { connection.close() }
        }

        func closed() { service.state.withLock { $0.closes += 1 } }

        func refusal(_ reason: ConnectionRefusal) -> [UInt8] { service.refusal(reason) }
    }
}

/// Objects of a service that a test keeps until it takes them. A connection has its service, which holds them: those not taken
/// stay for ever.
final class Held<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])

    /// - Returns: the present number.
    @discardableResult
    func keep(_ value: Value) -> Int {
        values.withLock { values in
            values.append(value)
            return values.count
        }
    }

    func take() -> [Value] {
        values.withLock { values in
            defer { values = [] }
            return values
        }
    }
}

extension LocalConnection {
    func say(_ line: String) { write(Array("\(line)\n".utf8)) }
}

/// A listener in a folder of its own.
struct ListenerBed {
    let listener: LocalListener
    let path: String
    let bed: TestBed

    func connect() async throws -> LineClient { try await LineClient.connect(to: path) }
}

func withListener(
    _ service: some ConnectionService, audience: SocketPlace.Audience = .owner,
    limits change: (inout ConnectionLimits) -> Void = { _ in }, _ body: (ListenerBed) async throws -> Void
) async throws {
    var limits = ConnectionLimits()
    change(&limits)
    try await withTestBed { bed in
        let path = bed.path("broker.sock")
        let reactor = try Reactor()
        bed.atEnd { await reactor.stop() }
        let listener = try await LocalListener.start(
            ListeningSocket.bind(SocketPlace(path: path, audience: audience)), on: reactor, service: service,
            limits: limits, logger: .silent)
        bed.atEnd { await listener.shutDown(within: .milliseconds(100)) }
        try await body(ListenerBed(listener: listener, path: path, bed: bed))
    }
}
