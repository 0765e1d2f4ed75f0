import BrokerModel
import BrokerRPC
import BrokerSocket
import BrokerValues

/// The requests of one connection. Lives on the reactor's thread.
///
/// A request that can be answered at once is answered within ``received(_:on:)``; one that must wait gets a task, which ends with
/// the connection. No further line is read (the client's writes then block) while `maximumWaiting` requests wait, or more than a
/// few and many of its user's, or their lines add up to `maximumBytes`.
final class ConnectionSession: ConnectionHandler {
    private let connection: LocalConnection
    private var context: ConnectionContext
    private let front: any Front
    private let conversation: any Conversation
    private let maximumWaiting: Int
    private let ofUsers: UserRequests
    /// The process that the connection was handed on to.
    private var successor: PeerCredentials?
    /// The context for another process that writes on the connection.
    private let handedOn: (PeerCredentials) -> ConnectionContext
    /// The context for the connected process after it has entered a sandbox.
    private let moved: () -> ConnectionContext

    /// Memory in which answers are written, one after the other.
    private var writer = JSONWriter(capacity: 4096)
    private var waiting: [UInt64: Waiting] = [:]
    private var requestsUnderWay = 0
    /// Bytes of the lines whose requests wait, and of answers that wait for others of their batch.
    private var bytesUnderWay = 0
    private static let maximumBytes = 1 << 20
    private var nextTask: UInt64 = 0
    private var isPaused = false
    private var isDraining = false
    private var isEnding = false
    private var isGone = false
    private var isClosed = false

    /// A line whose requests were not all answered at once.
    private struct Waiting {
        let task: Task<Void, Never>
        let requests: Int
        /// The line, and the answers that wait for others.
        var bytes: Int
    }

    init(
        _ connection: LocalConnection, context: ConnectionContext, front: any Front, maximumWaiting: Int,
        ofUsers: UserRequests, handedOn: @escaping (_ writer: PeerCredentials) -> ConnectionContext,
        moved: @escaping () -> ConnectionContext
    ) {
        self.handedOn = handedOn
        self.moved = moved
        self.connection = connection
        self.context = context
        self.front = front
        conversation = front.converse()
        self.maximumWaiting = maximumWaiting
        self.ofUsers = ofUsers
    }

    // MARK: Events from the connection

    func makeSplitter(limit: Int) -> any MessageSplitter { conversation.makeSplitter(limit: limit) }

    func received(_ line: ArraySlice<UInt8>) {
        let handling = line.withUnsafeBytes { conversation.begin($0, in: context, refusing: refusal, &writer) }
        switch handling {
        case .answered:
            send()
            closeIfDone()
        case .waits(let requests, let held, let rest): start(rest, of: requests, line.count, held)
        }
    }

    /// The error that answers every request now.
    private var refusal: BrokerError? {
        if isDraining { return .stopping }
        return ofUsers.areTooMany(of: context.payer) ? UserRequests.tooMany : nil
    }

    /// Requests in progress belong to the process that sent them.
    func handedOn(to writer: PeerCredentials) {
        successor = writer
        change(to: handedOn(writer))
    }

    /// A process can enter a sandbox and keep its connection; it cannot leave one. So a process that is outside after its bytes
    /// were read was outside when it wrote them. Its root reveals nearly all sandboxes with one system call; the full comparison
    /// runs once per second.
    func heard(thoroughly: Bool) {
        guard context.hasMoved(thoroughly) else { return }
        context.watches.endAll(telling: .movedMeanwhile(context.caller))
        change(to: successor.map(handedOn) ?? moved())
    }

    private func change(to other: ConnectionContext) {
        context.end()
        context = other
    }

    var isIdle: Bool { waiting.isEmpty && !context.isListening && context.binding.isEmpty }

    func inputEnded() {
        isEnding = true
        closeIfDone()
    }

    /// No one waits any more. Requests sent before are begun all the same, as their sender could not know better.
    func peerGone() {
        isGone = true
        for waiting in waiting.values { waiting.task.cancel() }
    }

    func draining() {
        isDraining = true
        isEnding = true
        closeIfDone()
    }

    func closed() {
        guard !isClosed else { return }
        isClosed = true
        context.end()
        for waiting in waiting.values { waiting.task.cancel() }
        waiting = [:]
    }

    func refusal(_ reason: ConnectionRefusal) -> [UInt8] { front.refusal(reason) }

    // MARK: Requests that wait

    /// Runs a waiting request, and returns to the reactor's thread with its answer.
    private func start(_ rest: @escaping MessageHandling.Rest, of requests: Int, _ line: Int, _ held: Int) {
        let number = nextTask
        nextTask += 1
        let reactor = connection.reactor
        let home = ReactorBound(self, of: reactor)
        let payer = context.payer
        ofUsers.begin(requests, of: payer)
        let task = Task { [ofUsers] in
            var answer = JSONWriter()
            let after = await rest(&answer) { held in reactor.execute { home.value.holds(line + held, number) } }
            ofUsers.end(requests, of: payer)
            let done = answer
            reactor.execute {
                home.value.ended(number, done)
                guard let after else { return }
                after()
                home.value.hasBegun()
            }
        }
        if isGone { task.cancel() }
        waiting[number] = Waiting(task: task, requests: requests, bytes: line + held)
        count(requests, line + held)
    }

    private func ended(_ number: UInt64, _ answer: JSONWriter) {
        guard let ended = waiting.removeValue(forKey: number) else { return }
        send(answer)
        count(-ended.requests, -ended.bytes)
        closeIfDone()
    }

    private func holds(_ bytes: Int, _ number: UInt64) {
        guard let before = waiting[number]?.bytes, bytes != before else { return }
        waiting[number]?.bytes = bytes
        count(0, bytes - before)
    }

    /// A watch has begun: whether the connection may be evicted has changed.
    private func hasBegun() { connection.works(on: bytesUnderWay) }

    private func count(_ requests: Int, _ bytes: Int) {
        requestsUnderWay += requests
        bytesUnderWay += bytes
        connection.works(on: bytesUnderWay)
        // A connection that is not read has requests in progress, and checks again when one of them ends.
        let isFull =
            requestsUnderWay >= maximumWaiting || bytesUnderWay >= Self.maximumBytes
            || requestsUnderWay >= UserRequests.few && ofUsers.areMany(of: context.payer)
        guard isFull != isPaused else { return }
        isPaused = isFull
        if isFull { connection.pauseReading() } else { connection.resumeReading() }
    }

    // MARK: Answers

    /// Sends the writer's contents; a notification leaves nothing there.
    private func send() {
        if !writer.bytes.isEmpty {
            writer.lendBytes { connection.write(taking: &$0) }
            writer.wipe()
        }
    }

    private func send(_ answer: JSONWriter) {
        if !answer.bytes.isEmpty { connection.write(answer.bytes) }
    }

    private func closeIfDone() {
        if isEnding || conversation.isOver, waiting.isEmpty { connection.close() }
    }
}
