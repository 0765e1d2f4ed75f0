import BrokerModel
import CBrokerLinux
import Logging

/// What is done with a connection that was accepted: who it is, whether it may speak, and whether there is a place for it.
struct ConnectionReception: Sendable {
    let table: ConnectionTable
    /// Which connections of the table come from the same socket.
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

    /// At another socket, with the same table.
    func another(for service: any ConnectionService) -> ConnectionReception {
        ConnectionReception(table: table, service: service, limits: limits, looks: looks, notices: notices)
    }

    /// Looks who it is, and goes on at the reactor.
    func receive(_ arrival: AcceptedConnection, on reactor: Reactor) {
        let service = service
        let goOn = { @Sendable (look: PeerSnapshot?) in
            if reactor.execute({ self.receive(arrival, look, on: reactor) }) { return }
            // The broker ends.
            broker_close_in_own_fd_table(arrival.descriptor)
        }
        guard let peer = arrival.peer else { return goOn(nil) }
        looks.add(peer) { goOn(service.look(at: peer)) }
    }

    /// On the reactor's thread.
    private func receive(_ arrival: AcceptedConnection, _ look: PeerSnapshot?, on reactor: Reactor) {
        let stream = SocketStream(arrival.descriptor, of: reactor)
        guard let peer = arrival.peer else {
            notices.tell("connection refused: who it is cannot be told", of: nil)
            return stream.close()
        }
        let channel = ConnectionChannel(stream, service: service, limits: limits, table: table, notices: notices)
        let connection = LocalConnection(
            id: table.makeID(), peer: peer, channel: channel, table: table, reactor: reactor)
        switch service.admit(connection, look) {
        case .serve(let handler, let owner):
            let entrant = Entrant(
                connection: connection, owner: owner, handler: handler, channel: channel, stream: stream)
            let entry = enter(entrant)
            guard case .refused = entry, table.beginWaiting() else { return finish(entrant, entry) }
            // A peer that has hung up, which the reactor has not seen yet, keeps nobody out.
            let bound = ReactorBound(entrant, of: reactor)
            reactor.execute {
                table.endWaiting()
                finish(bound.value, enter(bound.value))
            }
        case .refuse(let line):
            notices.tell("connection refused by policy", of: peer)
            close(stream, line)
        }
    }

    private struct Entrant {
        let connection: LocalConnection
        let owner: ConnectionOwner
        let handler: any ConnectionHandler
        let channel: ConnectionChannel
        let stream: SocketStream
    }

    private func enter(_ entrant: Entrant) -> ConnectionTable.Entry {
        table.enter(entrant.connection, of: entrant.owner, from: listener)
    }

    private func finish(_ entrant: Entrant, _ entry: ConnectionTable.Entry) {
        let (connection, stream) = (entrant.connection, entrant.stream)
        switch entry {
        case .entered:
            entrant.channel.serve(entrant.handler, on: connection, owner: entrant.owner)
        case .refused(let refusal):
            notices.tell("connection refused: the limit is reached", of: connection.peer, entrant.owner)
            entrant.handler.closed(connection)
            close(stream, service.refusalLine(refusal))
        case .late:
            entrant.handler.closed(connection)
            stream.close()
        }
    }

    private func close(_ stream: SocketStream, _ line: [UInt8]) {
        RejectedConnection.close(stream, saying: line, limits: limits, table: table)
    }
}

/// A connection that was accepted a moment ago: what can be had of it only then.
struct AcceptedConnection: Sendable {
    let descriptor: Int32
    /// Nil where the kernel does not say, or would not say who writes.
    let peer: PeerCredentials?

    init(_ accepted: Int32) {
        descriptor = accepted
        // The listener hands the question on, but not to whom connected before it was asked. Of what was sent before this the
        // kernel tells without being asked, and what comes in between is nobody's.
        let asks = broker_asks_who_writes(accepted) != 0 || broker_ask_who_writes(accepted) == 0
        peer = asks ? try? PeerCredentials(ofSocket: accepted) : nil
    }
}
