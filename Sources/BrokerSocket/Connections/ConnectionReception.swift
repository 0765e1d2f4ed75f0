import BrokerModel
import CBrokerLinux
import Logging

/// Handles an accepted connection: inspects the peer, decides whether to serve it, and finds a slot for it.
struct ConnectionReception: Sendable {
    let table: ConnectionTable
    /// Identifies the connections of one socket in the table.
    let listener: UInt64
    let service: any ConnectionService
    let limits: ConnectionLimits
    let looks: PeerInspectionQueue
    let notices: ConnectionNotices

    init(
        table: ConnectionTable, service: any ConnectionService, limits: ConnectionLimits, looks: PeerInspectionQueue,
        notices: ConnectionNotices
    ) {
        self.table = table
        listener = table.makeID()
        self.service = service
        self.limits = limits
        self.looks = looks
        self.notices = notices
    }

    var logger: Logger { notices.logger }

    /// For another socket, with the same table.
    func another(for service: any ConnectionService) -> ConnectionReception {
        ConnectionReception(table: table, service: service, limits: limits, looks: looks, notices: notices)
    }

    /// Inspects the peer, and continues on the reactor.
    func receive(_ arrival: AcceptedConnection, on reactor: Reactor) {
        let service = service
        let proceed = { @Sendable (look: PeerSnapshot?) in
            if reactor.execute({ self.receive(arrival, look, on: reactor) }) { return }
            // The broker is shutting down.
            broker_close_in_own_fd_table(arrival.descriptor)
        }
        guard let peer = arrival.peer else { return proceed(nil) }
        looks.add(peer) { proceed(service.look(at: peer)) }
    }

    /// Runs on the reactor's thread.
    private func receive(_ arrival: AcceptedConnection, _ look: PeerSnapshot?, on reactor: Reactor) {
        let stream = SocketStream(arrival.descriptor, of: reactor)
        guard let peer = arrival.peer else {
            notices.tell("connection refused: the peer cannot be identified", of: nil)
            return stream.close()
        }
        let channel = ConnectionChannel(stream, limits: limits, table: table, notices: notices)
        let connection = LocalConnection(
            id: table.makeID(), peer: peer, channel: channel, table: table, reactor: reactor)
        switch service.admit(connection, look) {
        case .serve(let handler, let owner):
            let candidate = Candidate(
                connection: connection, owner: owner, handler: handler, channel: channel, stream: stream)
            let entry = enter(candidate)
            guard case .refused = entry, table.waiting.enter() else { return finish(candidate, entry) }
            // A peer that has hung up unnoticed by the reactor takes no one's slot.
            let bound = ReactorBound(candidate, of: reactor)
            reactor.execute {
                table.waiting.leave()
                finish(bound.value, enter(bound.value))
            }
        case .refuse(let line):
            notices.tell("connection refused by policy", of: peer)
            close(stream, line)
        }
    }

    private struct Candidate {
        let connection: LocalConnection
        let owner: ConnectionOwner
        let handler: any ConnectionHandler
        let channel: ConnectionChannel
        let stream: SocketStream
    }

    private func enter(_ candidate: Candidate) -> ConnectionSlots.Entry {
        table.enter(candidate.connection, of: candidate.owner, from: listener)
    }

    private func finish(_ candidate: Candidate, _ entry: ConnectionSlots.Entry) {
        let (connection, stream) = (candidate.connection, candidate.stream)
        switch entry {
        case .entered:
            candidate.channel.serve(
                candidate.handler, id: connection.id, peer: connection.peer, owner: candidate.owner)
        case .refused(let refusal):
            notices.tell("connection refused: the limit is reached", of: connection.peer, candidate.owner)
            let line = candidate.handler.refusal(refusal)
            candidate.handler.closed()
            close(stream, line)
        case .late:
            candidate.handler.closed()
            stream.close()
        }
    }

    private func close(_ stream: SocketStream, _ line: [UInt8]) {
        RejectedConnection.close(stream, saying: line, limits: limits, table: table)
    }
}

/// A newly accepted connection, with the facts that are available only then.
struct AcceptedConnection: Sendable {
    let descriptor: Int32
    /// `nil` if the kernel does not identify the peer, or cannot identify writers.
    let peer: PeerCredentials?

    init(_ accepted: Int32) {
        descriptor = accepted
        // The accepted socket inherits the listener's option, except for connections made before it was set. For bytes sent
        // before this the kernel identifies the peer anyway; bytes that arrive in between have no known writer.
        let asks = broker_asks_who_writes(accepted) != 0 || broker_ask_who_writes(accepted) == 0
        peer = asks ? try? PeerCredentials(ofSocket: accepted) : nil
    }
}
