import BrokerModel
import Logging

/// Connects the bytes of one connection with its ``ConnectionHandler``. Everything happens on the reactor's thread.
///
/// Memory stays bounded whatever the peer does: an unfinished line may have `lineLength` bytes; nothing is read while the handler
/// pauses or while the peer leaves its answers unread; and a peer that reads no answers is cut off at `unreadAnswers` bytes.
final class ConnectionChannel: SocketStreamOwner {
    /// Lines delivered before others have their turn, if they are answered at once. One that waits takes longer, and a long one may
    /// be a batch: so many bytes count as one more line.
    private static let linesInATurn = 16
    private static let bytesOfALine = 512
    /// Smaller changes in bytes are not reported.
    private static let heldStep = 4 << 10

    /// The handler of lines, and their connection in the table. One object, as every step checks it.
    private final class Served {
        let handler: any ConnectionHandler
        let id: UInt64
        let peer: PeerCredentials
        /// The owner whose limit it counts against.
        let owner: ConnectionOwner

        init(_ handler: any ConnectionHandler, id: UInt64, peer: PeerCredentials, owner: ConnectionOwner) {
            (self.handler, self.id, self.peer, self.owner) = (handler, id, peer, owner)
        }
    }

    private enum Phase {
        case serving
        /// No more lines are delivered; the connection ends when the written bytes are sent.
        case closing
        /// The handler was notified; the stream's further events do not concern this object.
        case ended
    }

    private let limits: ConnectionLimits
    private let table: ConnectionTable
    private let notices: ConnectionNotices
    private let stream: SocketStream
    private var served: Served?
    /// When a line was last received or sent.
    private var lastActive: MonotonicInstant
    /// Start of the current idle time, without traffic or waiting requests; `nil` if not idle.
    private(set) var quietSince: MonotonicInstant?

    private var phase = Phase.serving
    /// The handler's splitter, once it serves.
    private var splitter: any MessageSplitter = LineSplitter(limit: 0)
    private var isPaused = false
    private var isDelivering = false
    /// Between the first line of a burst and its end; writes wait for the end to be flushed together.
    private var isInBurst = false
    /// Bytes of requests that the handler works on, and all bytes that wait in memory, as reported to the table.
    private var underWay = 0
    private var held = 0
    /// Lines may have arrived while none were wanted.
    private var isBehind = false
    /// Other connections have their turn before the lines in memory.
    private var awaitsTurn = false
    private var inputHasEnded = false
    private var inputEndWasTold = false
    private var halfLineTimer: ReactorTimer?
    private var closingTimer: ReactorTimer?
    private var writers: WriterCheck

    init(
        _ stream: SocketStream, limits: ConnectionLimits, table: ConnectionTable, notices: ConnectionNotices
    ) {
        self.stream = stream
        lastActive = stream.reactor.now
        writers = WriterCheck(since: lastActive)
        self.limits = limits
        self.table = table
        self.notices = notices
    }

    /// Call once it has its slot in the table.
    func serve(_ handler: any ConnectionHandler, id: UInt64, peer: PeerCredentials, owner: ConnectionOwner) {
        served = Served(handler, id: id, peer: peer, owner: owner)
        splitter = handler.makeSplitter(limit: limits.lineLength)
        updateQuiet()
        stream.serve(self, wantsInput: true)
    }

    // MARK: Commands from above

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
            updateQuiet()
            stream.flush()
        }
        let waiting = unreadAnswers
        guard waiting > 0 else { return }
        guard waiting > limits.unreadAnswers else { return tellHeld(waiting) }
        tell("a client does not read its answers: connection cut off")
        stream.close()
    }

    /// Written bytes that the peer has not read, once they are worth counting.
    private var unreadAnswers: Int { stream.isWritable ? 0 : stream.unsent }

    /// - Parameter bytes: bytes of requests that the handler works on.
    func works(on bytes: Int) {
        underWay = bytes
        if !isInBurst { updateQuiet() }
        tellHeld(unreadAnswers)
    }

    private func tellHeld(_ unread: Int) {
        guard phase != .ended, let served else { return }
        // In steps: the table is shared, and most requests and answers are smaller than one.
        let now = (splitter.count + underWay + unread) / Self.heldStep * Self.heldStep
        guard now != held else { return }
        held = now
        table.hold(now, by: served.id)
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
            // The broker's own delay does not count against the peer.
            cancel(&halfLineTimer)
        } else {
            resume()
        }
    }

    func drain() {
        guard phase == .serving, let served else { return }
        served.handler.draining()
    }

    func cutOff() {
        stream.close()
    }

    /// Updates whether the connection may be evicted: no request waits. A client may rely on this once it has an answer.
    private func updateQuiet() {
        if phase == .serving, let served { updateQuiet(served) }
    }

    private func updateQuiet(_ served: Served) {
        quietSince = splitter.holdsPart || !served.handler.isIdle ? nil : lastActive
    }

    /// Ends the connection for another peer, which has its slot already.
    func evict() {
        end("a quiet connection was closed to make room for another")
    }

    /// Ends the connection because it takes too much of the shared memory.
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
        served.handler.peerGone()
    }

    func descriptorsSent() { refuse(.descriptors) }

    func writableAgain() {
        tellHeld(0)
        resume()
        updateInput()
    }

    func outputEnded() {
        cutOff()
    }

    /// After a pause, or when the peer has read answers: first delivers the lines in memory, then reads the waiting bytes.
    private func resume() {
        // Within a burst, the delivery in progress or the end of the burst reaches the same lines.
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
            switch splitter.next() {
            case .message(let line):
                cancel(&halfLineTimer)
                left -= 1 + line.count / Self.bytesOfALine
                let before = underWay
                served.handler.received(line)
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
            self.resume()
            self.updateInput()
        }
    }

    private func awaitRest(of served: Served) {
        if inputHasEnded {
            guard !inputEndWasTold else { return }
            inputEndWasTold = true
            if splitter.holdsPart {
                splitter.discard()
                write(served.handler.refusal(.lineCutOff))
            }
            served.handler.inputEnded()
        } else if splitter.holdsPart, halfLineTimer == nil {
            halfLineTimer = stream.reactor.schedule(after: limits.halfLine) {
                self.halfLineTimer = nil
                // Otherwise the rest may have arrived, and it is the broker that does not read it.
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
        updateQuiet(served)
        stream.flush()
        updateInput()
        if isBehind { resume() }
    }

    /// - Returns: whether the received bytes count.
    private func knowsWriter(_ writer: ByteWriter, _ served: Served) -> Bool {
        let now = stream.reactor.now
        switch writers.judge(writer, onConnectionOf: served.peer, isInLine: splitter.holdsPart, at: now) {
        case .known(let thoroughly): served.handler.heard(thoroughly: thoroughly)
        case .handedOn(let successor): served.handler.handedOn(to: successor)
        case .refused:
            refuse(.manyWriters)
            return false
        }
        return true
    }

    // MARK: The end

    /// Ends the service; the peer gets the reason.
    private func refuse(_ reason: ConnectionRefusal) {
        guard phase == .serving, let served else { return }
        tell("connection ended by the broker", ["reason": "\(reason)"])
        let line = served.handler.refusal(reason)
        let owner = reason == .descriptors ? served.owner : nil
        // Takes the slot before the connection releases its own.
        if let owner { table.keepPlace(of: owner) }
        finish()
        RejectedConnection.close(
            stream, saying: line, limits: limits, table: table, keepingPlaceOf: owner)
    }

    func ended() {
        finish()
    }

    /// A task that still works may hold the connection object for long; it must keep nothing else alive.
    private func finish() {
        phase = .ended
        cancel(&halfLineTimer)
        cancel(&closingTimer)
        splitter.discard()
        guard let served else { return }
        self.served = nil
        served.handler.closed()
        // Code that waits for the last connection's end finds everything done.
        table.remove(served.id)
    }

    private func cancel(_ timer: inout ReactorTimer?) {
        stream.reactor.cancel(timer)
        timer = nil
    }

    private func tell(_ text: String, _ metadata: Logger.Metadata = [:]) {
        guard let served else { return }
        notices.tell(text, of: served.peer, served.owner, metadata.merging(["connection": "\(served.id)"]) { $1 })
    }
}
