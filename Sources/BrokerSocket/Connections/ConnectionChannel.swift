import BrokerModel
import BrokerSystem
import Logging

/// Between the bytes of one connection and its ``ConnectionHandler``. Everything happens on the reactor's thread.
///
/// Memory stays bounded whatever the peer does: an unfinished line may have `lineLength` bytes; nothing is read while
/// the handler pauses or while the peer leaves its answers lying; and a peer that takes none of what it asked for is
/// cut off at `unreadAnswers` bytes.
final class ConnectionChannel: SocketStreamOwner {
    /// Lines that are delivered before others have their turn, if they are answered at once. One that waits takes longer.
    private static let linesInATurn = 16
    /// Bytes; less is not told.
    private static let heldStep = 4 << 10

    /// Who is told of lines, and where they come from. One object: it is looked at in every step.
    private final class Served {
        let handler: any ConnectionHandler
        let connection: LocalConnection

        init(_ handler: any ConnectionHandler, _ connection: LocalConnection) {
            self.handler = handler
            self.connection = connection
        }
    }

    private enum Phase {
        case serving
        /// No line is delivered any more; the connection ends when what was written is sent.
        case closing
        /// The handler was told; what happens to the stream now is no matter of this object.
        case ended
    }

    private let service: any ConnectionService
    private let limits: ConnectionLimits
    private let table: ConnectionTable
    private let notices: ConnectionNotices
    private let stream: SocketStream
    private var served: Served?
    /// Whose limit it counts against.
    private var owner: ConnectionOwner?
    /// When a line came or went last.
    private var lastActive: MonotonicInstant
    /// Since when nothing has come or gone, and nobody waits for anything; nil while it is not so.
    private(set) var quietSince: MonotonicInstant?

    /// When the handler may look at the peer thoroughly again.
    private var looksAt: MonotonicInstant
    private static let lookInterval = Duration.seconds(1)

    private var phase = Phase.serving
    /// The handler's, from when it serves.
    private var splitter: any MessageSplitter = LineSplitter(limit: 0)
    private var isPaused = false
    private var isDelivering = false
    /// Between the first line of a burst and its end; writes wait for the end to be flushed together.
    private var isInBurst = false
    /// Bytes of requests that the handler works on, and those that wait in memory in all, as the table was told.
    private var underWay = 0
    private var held = 0
    /// Lines may be here that were not wanted when they came.
    private var isBehind = false
    /// Others have their turn before the lines that are here.
    private var awaitsTurn = false
    private var inputHasEnded = false
    private var inputEndWasTold = false
    private var halfLineTimer: ReactorTimer?
    private var closingTimer: ReactorTimer?
    /// Who writes; nil while that is who connected.
    private var otherWriter: (named: ByteWriter, process: PeerProcess?)?

    init(
        _ stream: SocketStream, service: any ConnectionService, limits: ConnectionLimits, table: ConnectionTable,
        notices: ConnectionNotices
    ) {
        self.stream = stream
        lastActive = stream.reactor.now
        looksAt = lastActive + Self.lookInterval
        self.service = service
        self.limits = limits
        self.table = table
        self.notices = notices
    }

    /// To be called when it has its place in the table.
    func serve(_ handler: any ConnectionHandler, on connection: LocalConnection, owner: ConnectionOwner) {
        served = Served(handler, connection)
        splitter = handler.makeSplitter(limit: limits.lineLength)
        self.owner = owner
        rest()
        stream.serve(self, wantsInput: true)
    }

    // MARK: What the layers above ask for

    func write(_ lines: [UInt8]) {
        write { stream.write(lines) }
    }

    func write(taking lines: inout [UInt8]) {
        write { stream.write(taking: &lines) }
    }

    private func write(_ put: () -> Void) {
        guard phase == .serving else { return }
        lastActive = stream.reactor.now
        put()
        if !isInBurst {
            rest()
            stream.flush()
        }
        let waiting = unreadAnswers
        guard waiting > 0 else { return }
        guard waiting > limits.unreadAnswers else { return tellHeld(waiting) }
        tell("a client does not read its answers: connection cut off")
        stream.close()
    }

    /// Bytes written that the peer has not taken, once they are worth counting.
    private var unreadAnswers: Int { stream.isWritable ? 0 : stream.unsent }

    /// - Parameter bytes: of requests that the handler works on.
    func works(on bytes: Int) {
        underWay = bytes
        if !isInBurst { rest() }
        tellHeld(unreadAnswers)
    }

    private func tellHeld(_ unread: Int) {
        guard phase != .ended, let served else { return }
        // In steps: the table is everybody's, and most requests and answers are less than one.
        let now = (splitter.count + underWay + unread) / Self.heldStep * Self.heldStep
        guard now != held else { return }
        held = now
        table.hold(now, by: served.connection.id)
    }

    func closeWhenSent() {
        guard phase == .serving else { return }
        phase = .closing
        quietSince = nil
        cancel(&halfLineTimer)
        splitter.discard()
        updateInput()
        closingTimer = stream.reactor.schedule(after: limits.closing) { self.cutOff() }
        stream.closeOutput()
    }

    func setPaused(_ paused: Bool) {
        isPaused = paused
        updateInput()
        if paused {
            // Time that the broker takes is not held against the peer.
            cancel(&halfLineTimer)
        } else {
            goOn()
        }
    }

    func drain() {
        guard phase == .serving, let served else { return }
        served.handler.draining(on: served.connection)
    }

    func cutOff() {
        stream.close()
    }

    /// Says whether the connection could give way to another: nobody waits for anything. Whoever hears an answer may rely on it.
    private func rest() {
        if phase == .serving, let served { rest(served) }
    }

    private func rest(_ served: Served) {
        quietSince = splitter.holdsPart || !served.handler.isIdle ? nil : lastActive
    }

    /// Ends the connection for the sake of another peer, which has its place already.
    func evict() {
        end("a quiet connection was closed to make room for another")
    }

    /// Ends the connection because it takes too much of the memory that there is for all.
    func giveBackMemory() {
        end("a client made the broker hold too much: connection cut off")
    }

    private func end(_ why: String) {
        guard phase != .ended else { return }
        tell(why)
        finish()
        stream.close()
    }

    // MARK: Bytes in

    private var wantsLines: Bool { phase == .serving && !isPaused && stream.isWritable }

    private func updateInput() {
        if phase != .ended { stream.wantsInput = wantsLines && !awaitsTurn }
    }

    func received(_ bytes: UnsafeRawBufferPointer, _ writer: ByteWriter) {
        guard phase == .serving, let served, knowsWriter(writer, served) else { return }
        beginBurst()
        lastActive = stream.reactor.now
        splitter.append(bytes)
        deliver(to: served)
        endBurst(of: served)
    }

    func inputEnded() {
        guard let served else { return }
        inputHasEnded = true
        beginBurst()
        deliver(to: served)
        endBurst(of: served)
    }

    func peerGone() {
        guard phase == .serving, let served else { return cutOff() }
        served.handler.peerGone(on: served.connection)
    }

    func descriptorsSent() { refuse(.descriptors) }

    func writableAgain() {
        tellHeld(0)
        goOn()
        updateInput()
    }

    func outputEnded() {
        cutOff()
    }

    /// After a pause, or when the peer took its answers: first the lines that are here, then the bytes that wait outside.
    private func goOn() {
        // Within a burst the delivery under way, or the end of the burst, comes to the same lines.
        guard wantsLines, !isDelivering, !isInBurst, !awaitsTurn, let served else { return }
        beginBurst()
        deliver(to: served)
        endBurst(of: served)
    }

    private func deliver(to served: Served) {
        guard !isDelivering, !awaitsTurn else { return }
        isDelivering = true
        defer { isDelivering = false }
        isBehind = true
        var left = Self.linesInATurn
        while wantsLines {
            guard left > 0 else { return awaitTurn() }
            left -= 1
            switch splitter.next() {
            case .message(let line):
                cancel(&halfLineTimer)
                let before = underWay
                served.handler.received(line, on: served.connection)
                if underWay > before { left = 0 }
            case .tooLong:
                return refuse(.lineTooLong(limit: limits.lineLength))
            case .needsMore:
                isBehind = false
                awaitRest(of: served)
                return tellHeld(unreadAnswers)
            }
        }
    }

    private func awaitTurn() {
        awaitsTurn = true
        stream.reactor.soon {
            self.awaitsTurn = false
            self.goOn()
            self.updateInput()
        }
    }

    private func awaitRest(of served: Served) {
        if inputHasEnded {
            guard !inputEndWasTold else { return }
            inputEndWasTold = true
            if splitter.holdsPart {
                splitter.discard()
                write(service.refusalLine(.lineCutOff))
            }
            served.handler.inputEnded(on: served.connection)
        } else if splitter.holdsPart, halfLineTimer == nil {
            halfLineTimer = stream.reactor.schedule(after: limits.halfLine) {
                self.halfLineTimer = nil
                // Otherwise the rest may have come and it is the broker who does not take it.
                guard self.wantsLines else { return }
                self.refuse(.lineStalled(after: self.limits.halfLine))
            }
        }
    }

    private func beginBurst() {
        isInBurst = true
        quietSince = nil
    }

    private func endBurst(of served: Served) {
        guard isInBurst else { return }
        isInBurst = false
        guard phase == .serving else { return }
        rest(served)
        stream.flush()
        updateInput()
        if isBehind { goOn() }
    }

    /// Whoever got hold of the connection after it was made speaks for itself.
    ///
    /// - Returns: whether what came counts.
    private func knowsWriter(_ writer: ByteWriter, _ served: Served) -> Bool {
        let peer = served.connection.peer
        // While the process that connected lives, its number is nobody else's.
        let isPeer = writer.pid == peer.pid && peer.process?.isRunning != false
        if otherWriter == nil, isPeer, writer.uid == peer.uid {
            let now = stream.reactor.now
            let isDue = now >= looksAt
            if isDue { looksAt = now + Self.lookInterval }
            served.handler.heard(on: served.connection, thoroughly: isDue)
            return true
        }
        // Where none is held, the writer counts as nobody who could be told.
        if let otherWriter, writer == otherWriter.named, otherWriter.process?.isRunning != false { return true }
        // One other, once, and not in the middle of a line.
        guard otherWriter == nil, writer.uid == peer.uid, !splitter.holdsPart else {
            refuse(.manyWriters)
            return false
        }
        var credentials = PeerCredentials(ofWriter: writer, onConnectionOf: peer)
        // Who has the number of a process that has ended may be anybody.
        if writer.pid == peer.pid { credentials.process = nil }
        otherWriter = (writer, credentials.process)
        served.handler.handedOn(to: credentials, on: served.connection)
        return true
    }

    // MARK: The end

    /// Ends the service; the peer is told why.
    private func refuse(_ reason: ConnectionRefusal) {
        guard phase == .serving else { return }
        tell("connection ended by the broker", ["reason": "\(reason)"])
        let owner = reason == .descriptors ? self.owner : nil
        // Before its connection leaves it to others.
        if let owner { table.keepPlace(of: owner) }
        finish()
        RejectedConnection.close(
            stream, saying: service.refusalLine(reason), limits: limits, table: table, keepingPlaceOf: owner)
    }

    func ended() {
        finish()
    }

    /// The connection object may be held long after by a task that still works; it must hold nothing alive.
    private func finish() {
        phase = .ended
        cancel(&halfLineTimer)
        cancel(&closingTimer)
        splitter.discard()
        guard let served else { return }
        self.served = nil
        served.handler.closed(served.connection)
        // Who waits for the last connection to end finds everything done.
        table.remove(served.connection.id)
    }

    private func cancel(_ timer: inout ReactorTimer?) {
        stream.reactor.cancel(timer)
        timer = nil
    }

    private func tell(_ text: String, _ metadata: Logger.Metadata = [:]) {
        guard let connection = served?.connection else { return }
        notices.tell(
            text, of: connection.peer, owner, metadata.merging(["connection": "\(connection.id)"]) { $1 })
    }
}
