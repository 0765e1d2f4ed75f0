import BrokerModel
import BrokerSystem
import CBrokerLinux
import Dispatch
import Glibc
import Logging

/// Takes connections from one listening socket. Lives on the reactor's thread.
final class LineAcceptor: ReactorSource {
    /// Taken in one go, so that those who are connected get their turn in between.
    private static let mostAtOnce = 16
    /// Without descriptors or memory left, accept fails at once again and again.
    private static let pause = Duration.seconds(1)

    let table: LineTable
    /// Which connections of the table are its own.
    let number: UInt64
    let logger: Logger
    private let descriptor: Int32
    private let sharer: UInt32?
    /// Called once, when nothing can be accepted any more although nobody asked for it.
    var whenCutOff: () -> Void = {}
    private let reactor: Reactor
    private let service: any LineService
    private let limits: LineLimits
    private var token: UInt64?
    private var isAccepting = false
    private var resumption: ReactorTimer?

    init(
        _ socket: ListeningSocket, on reactor: Reactor, table: LineTable, service: any LineService, limits: LineLimits,
        logger: Logger
    ) {
        descriptor = socket.descriptor
        sharer = socket.sharer
        self.reactor = reactor
        self.table = table
        number = table.makeID()
        self.service = service
        self.limits = limits
        self.logger = logger
    }

    /// On another socket, with the same table.
    func another(on socket: ListeningSocket, service: any LineService) -> LineAcceptor {
        LineAcceptor(socket, on: reactor, table: table, service: service, limits: limits, logger: logger)
    }

    var connections: [LineChannel] { table.all(of: number) }

    /// - Returns: 0, or the errno that says why it cannot accept; then the socket is closed.
    func begin() -> Int32 {
        var code = broker_ask_who_writes(descriptor)
        if code == 0 { code = sharer == nil ? beginHere() : beginAside() }
        if code != 0 { close(descriptor) }
        isAccepting = code == 0
        return code
    }

    private func beginHere() -> Int32 {
        let code = broker_make_nonblocking(descriptor)
        guard code == 0 else { return code }
        token = reactor.watch(descriptor, for: .input, self)
        return token == nil ? ENOMEM : 0
    }

    /// On a thread of its own, where whoever shares the socket makes nobody else wait.
    private func beginAside() -> Int32 {
        let (descriptor, reactor, acceptor) = (descriptor, reactor, ReactorBound(self, of: reactor))
        return DetachedThread.start {
            let isServed = DispatchSemaphore(value: 0)
            while true {
                let accepted = broker_accept_waiting(descriptor)
                guard accepted >= 0 else { break }
                reactor.execute {
                    acceptor.value.serve(accepted)
                    isServed.signal()
                }
                isServed.wait()
            }
            reactor.execute { acceptor.value.cutOff() }
        }
    }

    private func cutOff() {
        // Who connected and was not accepted may have sent descriptors, which end with it.
        if let sharer { ReceivedDescriptor.close([descriptor], from: sharer) }
        guard isAccepting else { return }
        isAccepting = false
        whenCutOff()
    }

    func end() {
        guard isAccepting else { return }
        isAccepting = false
        reactor.cancel(resumption)
        if let token {
            reactor.forget(token, descriptor)
            close(descriptor)
        } else {
            // Wakes the thread that waits for somebody, which then closes it.
            shutdown(descriptor, Int32(SHUT_RDWR))
        }
        token = nil
    }

    func ready(_ what: ReactorReadiness) {
        for _ in 0..<Self.mostAtOnce {
            let accepted = broker_accept(descriptor)
            switch -accepted {
            case ...0: serve(accepted)
            case EAGAIN: return
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: return waitForRoom(accepted)
            // The one who connected has gone.
            case EINTR, ECONNABORTED, EPROTO: continue
            default:
                logger.error("the socket accepts no connection any more", metadata: ["errno": "\(-accepted)"])
                end()
                return whenCutOff()
            }
        }
    }

    private func waitForRoom(_ result: Int32) {
        guard let token else { return }
        logger.warning(
            "no connection can be accepted now, the system has no room", metadata: ["errno": "\(-result)"])
        table.makeRoom()
        reactor.change(token, descriptor, to: [])
        resumption = reactor.schedule(after: Self.pause) {
            guard let token = self.token else { return }
            self.reactor.change(token, self.descriptor, to: .input)
        }
    }

    private func serve(_ accepted: Int32) {
        guard isAccepting else {
            close(accepted)
            return
        }
        let peer: PeerCredentials
        do throws(SocketError) {
            peer = try PeerCredentials(ofSocket: accepted)
        } catch {
            logger.notice("connection refused: who it is cannot be told", metadata: ["cause": "\(error)"])
            return SocketStream(accepted, from: .max, of: reactor).close()
        }
        let stream = SocketStream(accepted, from: peer.uid, of: reactor)
        // The listener hands the question on, but not to whom connected before it was asked. Of what was sent before this the
        // kernel tells without being asked, and what comes in between is nobody's.
        guard broker_asks_who_writes(accepted) != 0 || broker_ask_who_writes(accepted) == 0 else {
            return stream.close()
        }
        let channel = LineChannel(
            stream, service: service, limits: limits, table: table, listener: number, logger: logger)
        let connection = LineConnection(
            id: table.makeID(), peer: peer, channel: channel, table: table.count, reactor: reactor)
        let about: Logger.Metadata = ["pid": "\(peer.pid)", "uid": "\(peer.uid)"]
        switch service.admit(connection) {
        case .serve(let handler, let owner):
            if let refusal = table.makeRoom(for: owner) {
                logger.notice("connection refused: the limit is reached", metadata: about)
                handler.closed(connection)
                dismiss(stream, service.refusalLine(refusal))
            } else {
                if !owner.maySendDescriptors { stream.refuseDescriptors() }
                channel.serve(handler, on: connection, owner: owner)
            }
        case .refuse(let line):
            logger.notice("connection refused by policy", metadata: about)
            dismiss(stream, line)
        }
    }

    private func dismiss(_ stream: SocketStream, _ line: [UInt8]) {
        stream.refuseDescriptors()
        RefusedPeer.dismiss(stream, saying: line, limits: limits, table: table)
    }
}
