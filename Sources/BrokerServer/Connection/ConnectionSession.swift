import BrokerRPC
import BrokerSocket
import BrokerModel
import BrokerValues

/// The requests of one connection. Lives on the reactor's thread.
///
/// A request that can be answered at once is answered within ``received(_:on:)``; one that must wait gets a task, which
/// ends with the connection. While `maximumWaiting` tasks run, or what they were asked with comes to `maximumBytes`, no
/// further line is taken (the client's writes then block).
final class ConnectionSession: LineHandler {
    private let connection: LineConnection
    private var context: ConnectionContext
    private let pipeline: RequestPipeline
    private let maximumWaiting: Int
    /// What another process gets that writes on the connection.
    private let handedOn: (PeerCredentials) -> ConnectionContext

    /// Memory that answers are written in, one after the other.
    private var writer = JSONWriter(capacity: 4096)
    private var waiting: [UInt64: (task: Task<Void, Never>, bytes: Int)] = [:]
    /// Of the lines whose requests wait.
    private var bytesUnderWay = 0
    private static let maximumBytes = 1 << 20
    private var nextTask: UInt64 = 0
    private var isPaused = false
    private var isDraining = false
    private var isEnding = false
    private var isClosed = false

    init(
        _ connection: LineConnection, context: ConnectionContext, pipeline: RequestPipeline, maximumWaiting: Int,
        handedOn: @escaping (_ writer: PeerCredentials) -> ConnectionContext
    ) {
        self.handedOn = handedOn
        self.connection = connection
        self.context = context
        self.pipeline = pipeline
        self.maximumWaiting = maximumWaiting
    }

    // MARK: From the bytes layer

    func received(
        _ line: ArraySlice<UInt8>, with descriptors: [ReceivedDescriptor], on connection: LineConnection
    ) {
        if !descriptors.isEmpty { context.carry(descriptors) }
        defer { if !descriptors.isEmpty { context.carry([]) } }
        let size = line.count
        switch line.withUnsafeBytes(RequestLine.init) {
        case .single(let item): single(item, size)
        case .batch(let items): batch(items, size / max(items.count, 1))
        case .refused(let error):
            writer.refuse(with: error, to: nil)
            send()
        }
    }

    /// What is under way is the other's who asked for it.
    func handedOn(to writer: PeerCredentials, on connection: LineConnection) {
        context.end()
        context = handedOn(writer)
    }

    var isIdle: Bool { waiting.isEmpty && !context.isSubscribed }

    func inputEnded(on connection: LineConnection) {
        isEnding = true
        closeIfDone()
    }

    func draining(on connection: LineConnection) {
        isDraining = true
        isEnding = true
        closeIfDone()
    }

    func closed(_ connection: LineConnection) {
        guard !isClosed else { return }
        isClosed = true
        context.end()
        for (task, _) in waiting.values { task.cancel() }
        waiting = [:]
    }

    // MARK: Requests

    private func single(_ item: RequestLine.Item, _ size: Int) {
        switch begin(item) {
        case .answered: send()
        case .waits(let work):
            start(work, size) { session, answer in session.send(answer) }
        }
    }

    private func batch(_ items: [RequestLine.Item], _ size: Int) {
        let batch = BatchAnswer()
        for item in items {
            switch begin(item) {
            case .answered:
                batch.add(writer.bytes)
                writer.wipe()
            case .waits(let work):
                batch.awaited += 1
                start(work, size) { session, answer in
                    batch.awaited -= 1
                    batch.add(answer.bytes)
                    session.finish(batch)
                }
            }
        }
        finish(batch)
    }

    private func finish(_ batch: BatchAnswer) {
        guard batch.awaited == 0, !batch.isEmpty else { return }
        batch.write(to: &writer)
        send()
    }

    private func begin(_ item: RequestLine.Item) -> Handling {
        switch item {
        case .invalid(let id, let error):
            writer.refuse(with: error, to: id)
            return .answered
        case .call(let call):
            guard !isDraining else {
                writer.fail(RPCError(Self.stopping.correlated(CorrelationID.make())), call.id)
                return .answered
            }
            return pipeline.begin(call, in: context, &writer)
        }
    }

    /// Runs what must wait, and comes back to the reactor's thread with its answer.
    private func start(
        _ work: @escaping @Sendable (inout JSONWriter) async -> Void, _ size: Int,
        then deliver: @escaping (ConnectionSession, JSONWriter) -> Void
    ) {
        let number = nextTask
        nextTask += 1
        let reactor = connection.reactor
        let home = ReactorBound((session: self, deliver: deliver), of: reactor)
        let task = Task {
            var answer = JSONWriter()
            await work(&answer)
            let done = answer
            reactor.execute { home.value.session.ended(number, done, home.value.deliver) }
        }
        waiting[number] = (task, size)
        count(size)
        pauseOrResume()
    }

    private func ended(_ number: UInt64, _ answer: JSONWriter, _ deliver: (ConnectionSession, JSONWriter) -> Void) {
        guard let (_, size) = waiting.removeValue(forKey: number) else { return }
        count(-size)
        deliver(self, answer)
        pauseOrResume()
        closeIfDone()
    }

    // MARK: Answers

    /// Sends what is in the writer; a notification left nothing there.
    private func send() {
        guard !writer.bytes.isEmpty else { return }
        writer.endLine()
        connection.write(writer.bytes)
        writer.wipe()
    }

    private func send(_ answer: JSONWriter) {
        guard !answer.bytes.isEmpty else { return }
        var line = answer
        line.endLine()
        connection.write(line.bytes)
    }

    private func pauseOrResume() {
        let isFull = waiting.count >= maximumWaiting || bytesUnderWay >= Self.maximumBytes
        guard isFull != isPaused else { return }
        isPaused = isFull
        if isFull { connection.pauseReading() } else { connection.resumeReading() }
    }

    private func count(_ bytes: Int) {
        bytesUnderWay += bytes
        connection.works(on: bytesUnderWay)
    }

    private func closeIfDone() {
        if isEnding, waiting.isEmpty { connection.close() }
    }

    private static let stopping = BrokerError(
        .serverUnavailable, "The broker is stopping; connect again in a moment.", reason: .shuttingDown)
}
