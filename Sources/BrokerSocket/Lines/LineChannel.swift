import BrokerModel
import Logging
import NIOCore

/// Between the bytes of one connection and its ``LineHandler``. Everything happens on the connection's event loop.
///
/// Memory stays bounded whatever the peer does: an unfinished line may have `lineLength` bytes; nothing is read while
/// the handler pauses or while the peer leaves its answers lying; and a peer that takes none of what it asked for is
/// cut off at `unreadAnswers` bytes.
final class LineChannel: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum Phase {
        case serving
        /// No line is delivered any more; the connection ends when what was written is sent.
        case closing
        /// The handler was told; what happens to the channel now is no matter of this object.
        case ended
    }

    private let service: any LineService
    private let limits: LineLimits
    private let table: LineTable
    /// Of which listener of the table it is.
    let listener: UInt64
    private let logger: Logger
    private var context: ChannelHandlerContext?
    private var served: (handler: any LineHandler, connection: LineConnection)?
    /// Whose limit it counts against.
    private(set) var owner: ConnectionOwner?
    /// When a line came or went last.
    private(set) var lastActive = NIODeadline.now()

    private var phase = Phase.serving
    private var splitter: LineSplitter
    private var isPaused = false
    private var isDelivering = false
    /// Between the first line of a burst and its end; writes wait for the end to be flushed together.
    private var isInBurst = false
    /// Bytes of requests that the handler works on, and those that wait in memory in all, as the table was told.
    private var underWay = 0
    private var held = 0
    /// Lines may be here that were not wanted when they came.
    private var isBehind = false
    /// NIO asked for more bytes while none were wanted.
    private var owesRead = false
    private var inputHasEnded = false
    private var inputEndWasTold = false
    private var halfLineTimer: Scheduled<Void>?
    private var closingTimer: Scheduled<Void>?

    init(service: any LineService, limits: LineLimits, table: LineTable, listener: UInt64, logger: Logger) {
        self.listener = listener
        self.service = service
        self.limits = limits
        self.table = table
        self.logger = logger
        splitter = LineSplitter(limit: limits.lineLength)
    }

    /// Called before the channel is active, so before the first byte.
    func serve(_ handler: any LineHandler, on connection: LineConnection, owner: ConnectionOwner) {
        served = (handler, connection)
        self.owner = owner
        table.add(self, id: connection.id)
    }

    // MARK: What the layers above ask for

    func write(_ lines: ByteBuffer) {
        guard let context, phase == .serving else { return }
        lastActive = .now()
        context.write(wrapOutboundOut(lines), promise: nil)
        if !isInBurst { context.flush() }
        let waiting = unreadAnswers
        guard waiting > 0 else { return }
        guard waiting > limits.unreadAnswers else { return tellHeld(waiting) }
        logger.notice("a client does not read its answers: connection cut off", metadata: about)
        context.close(promise: nil)
    }

    /// Bytes written that the peer has not taken, once they are worth counting.
    private var unreadAnswers: Int {
        guard let channel = context?.channel, !channel.isWritable else { return 0 }
        return (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }

    /// - Parameter bytes: of requests that the handler works on.
    func works(on bytes: Int) {
        underWay = bytes
        tellHeld(unreadAnswers)
    }

    private func tellHeld(_ unread: Int) {
        guard phase != .ended, let served else { return }
        let now = splitter.count + underWay + unread
        guard now != held else { return }
        held = now
        table.hold(now, by: served.connection.id)
    }

    func closeWhenSent() {
        guard let context, phase == .serving else { return }
        phase = .closing
        halfLineTimer?.cancel()
        splitter.discard()
        closingTimer = context.eventLoop.assumeIsolated().scheduleTask(in: .init(limits.closing)) { self.cutOff() }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer())).assumeIsolated().whenComplete { _ in self.cutOff() }
    }

    func setPaused(_ paused: Bool) {
        isPaused = paused
        if paused {
            // Time that the broker takes is not held against the peer.
            halfLineTimer?.cancel()
            halfLineTimer = nil
        } else {
            goOn()
        }
    }

    func drain() {
        guard phase == .serving, let served else { return }
        served.handler.draining(on: served.connection)
    }

    func cutOff() {
        context?.close(promise: nil)
    }

    /// Whether nothing has come or gone for some time, and nobody waits for anything.
    func isQuiet(for time: Duration, at now: NIODeadline) -> Bool {
        phase == .serving && now - lastActive >= .init(time) && !splitter.holdsPartOfLine
            && served?.handler.isIdle == true
    }

    /// Ends the connection for the sake of another peer. It frees its place at once.
    func giveWay() {
        end("a quiet connection was closed to make room for another")
    }

    /// Ends the connection because it takes too much of the memory that there is for all.
    func giveBackMemory() {
        end("a client made the broker hold too much: connection cut off")
    }

    private func end(_ why: Logger.Message) {
        logger.notice(why, metadata: about)
        finish()
        context?.close(promise: nil)
    }

    // MARK: Bytes in

    private var wantsLines: Bool {
        phase == .serving && !isPaused && context?.channel.isWritable == true
    }

    func read(context: ChannelHandlerContext) {
        if wantsLines || phase == .ended {
            context.read()
        } else {
            owesRead = true
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard phase == .serving else { return context.fireChannelRead(data) }
        isInBurst = true
        lastActive = .now()
        splitter.append(unwrapInboundIn(data))
        deliver()
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        endBurst()
        context.fireChannelReadComplete()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? ChannelEvent, event == .inputClosed {
            inputHasEnded = true
            isInBurst = true
            deliver()
            endBurst()
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            tellHeld(0)
            goOn()
        }
        context.fireChannelWritabilityChanged()
    }

    /// After a pause, or when the peer took its answers: first the lines that are here, then the bytes that wait outside.
    private func goOn() {
        // Within a burst the delivery under way, or the end of the burst, comes to the same lines.
        guard wantsLines, !isDelivering, !isInBurst else { return }
        isInBurst = true
        deliver()
        endBurst()
    }

    private func deliver() {
        guard !isDelivering, let served else { return }
        isDelivering = true
        defer { isDelivering = false }
        isBehind = true
        while wantsLines {
            switch splitter.next() {
            case .line(let line):
                halfLineTimer?.cancel()
                halfLineTimer = nil
                served.handler.received(line, on: served.connection)
            case .tooLong:
                return refuse(.lineTooLong(limit: limits.lineLength))
            case .needsMore:
                isBehind = false
                awaitRest(of: served)
                return tellHeld(unreadAnswers)
            }
        }
    }

    private func awaitRest(of served: (handler: any LineHandler, connection: LineConnection)) {
        if inputHasEnded {
            guard !inputEndWasTold else { return }
            inputEndWasTold = true
            if splitter.holdsPartOfLine {
                splitter.discard()
                write(service.refusalLine(.lineCutOff))
            }
            served.handler.inputEnded(on: served.connection)
        } else if splitter.holdsPartOfLine, halfLineTimer == nil {
            halfLineTimer = context?.eventLoop.assumeIsolated().scheduleTask(in: .init(limits.halfLine)) {
                self.halfLineTimer = nil
                // Otherwise the rest may have come and it is the broker who does not take it.
                guard self.wantsLines else { return }
                self.refuse(.lineStalled(after: self.limits.halfLine))
            }
        }
    }

    private func endBurst() {
        guard isInBurst else { return }
        isInBurst = false
        context?.flush()
        guard wantsLines else { return }
        if isBehind { goOn() }
        if owesRead, wantsLines {
            owesRead = false
            context?.read()
        }
    }

    // MARK: The end

    /// Ends the service and leaves the channel to a ``RefusalHandler``, which tells the peer why.
    private func refuse(_ reason: LineRefusal) {
        guard let context, phase == .serving else { return }
        logger.notice("connection ended by the broker", metadata: about.merging(["reason": "\(reason)"]) { $1 })
        finish()
        let handler = RefusalHandler(saying: service.refusalLine(reason), limits: limits, table: table)
        do {
            try context.pipeline.syncOperations.addHandler(handler)
        } catch {
            context.close(promise: nil)
        }
        if owesRead { context.read() }
    }

    func channelInactive(context: ChannelHandlerContext) {
        finish()
        context.fireChannelInactive()
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        finish()
        self.context = nil
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A peer that goes away while it is written to is everyday life.
        logger.debug("connection failed", metadata: about.merging(["error": "\(error)"]) { $1 })
        context.close(promise: nil)
    }

    /// The connection object may be held long after by a task that still works; it must hold nothing alive.
    private func finish() {
        phase = .ended
        halfLineTimer?.cancel()
        closingTimer?.cancel()
        splitter.discard()
        guard let served else { return }
        self.served = nil
        table.remove(served.connection.id)
        served.handler.closed(served.connection)
    }

    private var about: Logger.Metadata {
        guard let connection = served?.connection else { return [:] }
        return ["connection": "\(connection.id)", "pid": "\(connection.peer.pid)", "uid": "\(connection.peer.uid)"]
    }
}
