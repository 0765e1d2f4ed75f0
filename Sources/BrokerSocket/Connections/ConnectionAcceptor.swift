import CBrokerLinux
import Glibc
import Logging

/// Accepts connections from one listening socket. Lives on the reactor's thread.
final class ConnectionAcceptor: ReactorSource {
    /// Connections accepted in one go, so that connected clients get their turn in between.
    private static let maximumAtOnce = 16
    /// Without free descriptors or memory, accept fails at once again and again.
    private static let pause = Duration.seconds(1)

    /// Handles each connection.
    let reception: ConnectionReception
    private let descriptor: Int32
    private let reactor: Reactor
    private var token: UInt64?
    private var isAccepting = false
    private var resumption: ReactorTimer?

    init(
        _ socket: ListeningSocket, on reactor: Reactor, reception: ConnectionReception
    ) {
        descriptor = socket.descriptor
        self.reactor = reactor
        self.reception = reception
    }

    /// - Returns: 0, or the errno of the failure; then the socket is closed.
    func begin() -> Int32 {
        var code = broker_ask_who_writes(descriptor)
        if code == 0 { code = watch() }
        if code != 0 { close(descriptor) }
        isAccepting = code == 0
        if isAccepting { reception.table.begin(reception.listener) }
        return code
    }

    private func watch() -> Int32 {
        let code = broker_make_nonblocking(descriptor)
        guard code == 0 else { return code }
        token = reactor.watch(descriptor, for: .input, self)
        return token == nil ? ENOMEM : 0
    }

    /// - Returns: its connections. No more are accepted.
    @discardableResult
    func end() -> [any SlotHolder] {
        let connections = reception.table.end(reception.listener)
        guard isAccepting else { return connections }
        isAccepting = false
        reactor.cancel(resumption)
        if let token { reactor.forget(token, descriptor) }
        token = nil
        close(descriptor)
        return connections
    }

    func ready(_ what: ReactorReadiness) {
        for _ in 0..<Self.maximumAtOnce {
            guard hasRoomToLook() else { return }
            let accepted = broker_accept(descriptor)
            switch -accepted {
            case ...0: serve(accepted)
            case EAGAIN: return
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: return waitForRoom(accepted)
            // The connecting client has gone.
            case EINTR, ECONNABORTED, EPROTO: continue
            default:
                reception.logger.error("the socket accepts no connection any more", metadata: ["errno": "\(-accepted)"])
                end()
                return
            }
        }
    }

    /// While many peers are being inspected, no more are accepted.
    private func hasRoomToLook() -> Bool {
        let (reactor, acceptor) = (reactor, ReactorBound(self, of: reactor))
        let hasRoom = reception.looks.hasRoom {
            reactor.execute { acceptor.value.resume() }
        }
        if !hasRoom, let token { reactor.change(token, descriptor, to: []) }
        return hasRoom
    }

    private func resume() {
        if let token { reactor.change(token, descriptor, to: .input) }
    }

    private func waitForRoom(_ result: Int32) {
        guard let token else { return }
        reception.logger.warning(
            "no connection can be accepted now, the system has no room", metadata: ["errno": "\(-result)"])
        reception.table.makeRoom()
        reactor.change(token, descriptor, to: [])
        resumption = reactor.schedule(after: Self.pause) { self.resume() }
    }

    private func serve(_ accepted: Int32) {
        guard isAccepting else {
            close(accepted)
            return
        }
        reception.receive(AcceptedConnection(accepted), on: reactor)
    }
}
