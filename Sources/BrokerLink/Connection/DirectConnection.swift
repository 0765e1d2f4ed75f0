import BrokerRPC
import BrokerValues
import Glibc

/// A connection for a program that sends one request after another and does nothing else: no threads, no tasks.
///
/// A command such as `brokerctl token` is done before a thread pool has started. Requests are repeated after a loss
/// as in ``BrokerConnection``. Notifications are ignored.
package final class DirectConnection {
    package let location: SocketLocation
    private let patience: Duration
    private let answerTimeout: Duration?
    private let liveness: Liveness
    private var tellWaiting: (() -> Void)?
    private var stream: StreamSocket?
    private var lines = LineAssembler()
    private var nextID: Int64 = 1

    /// - Parameters:
    ///   - patience: how long to try to reconnect after a loss.
    ///   - answerTimeout: how long an answer may take; `nil` for as long as the broker answers others.
    ///   - liveness: when to check whether it does.
    ///   - tellWaiting: called once, if an answer takes so long that a person begins to wonder.
    package init(
        location: SocketLocation, patience: Duration = .seconds(3), answerTimeout: Duration? = nil,
        liveness: Liveness = Liveness(), tellWaiting: (() -> Void)? = nil
    ) {
        self.location = location
        self.patience = patience
        self.answerTimeout = answerTimeout
        self.liveness = liveness
        self.tellWaiting = tellWaiting
    }

    deinit { close() }

    /// Calls one method of the protocol, and blocks until it is answered.
    ///
    /// - Throws: like ``BrokerConnection/call(_:_:)``, but ``BrokerClientError/Code/brokerNotAvailable`` where a request
    ///   that does no harm twice is lost.
    package func call<Method: BrokerMethod>(
        _ method: Method.Type, _ params: Method.Params
    ) throws(BrokerClientError) -> Method.Result {
        try .decoded(try result(of: method, params))
    }

    /// Like ``call(_:_:)``, with the result as the broker wrote it.
    package func result<Method: BrokerMethod>(
        of method: Method.Type, _ params: Method.Params
    ) throws(BrokerClientError) -> JSONNode {
        try answer(to: Request(method, params))
    }

    package func answer(to request: Request) throws(BrokerClientError) -> JSONNode {
        defer { nextID += 1 }
        let line = request.line(nextID)
        guard line.count <= Link.longestRequest else { throw .tooLong }
        var repetition = RetryPolicy(isIdempotent: request.isIdempotent, at: location)
        var deadline: ContinuousClock.Instant?
        while true {
            try connect(until: deadline)
            let outcome = exchange(line)
            let isLast = if case .answer = outcome { outcome.announcesStop } else { true }
            if isLast { close() }
            // A request that may be repeated leaves nothing to check: its next answer tells all.
            switch repetition.verdict(on: outcome, loss: request.isIdempotent ? .hungUp(at: location) : .lost) {
            case .result(let result): return result
            case .failure(let error): throw error
            case .again(let error):
                deadline = deadline ?? ContinuousClock.now + patience
                try pause(before: deadline, otherwise: error)
            }
        }
    }

    private func close() {
        if let stream { Glibc.close(stream.descriptor) }
        stream = nil
        lines = LineAssembler()
    }

    /// A busy broker is running: the wait for a connection has the same limit as the wait for an answer.
    private func connect(until deadline: ContinuousClock.Instant?) throws(BrokerClientError) {
        let busyEnd = ContinuousClock.now + (answerTimeout ?? BrokerConnection.roomPatience)
        while stream == nil {
            do {
                let rest = busyEnd - .now
                stream = try StreamSocket.connect(
                    to: location, waitingForRoom: tellWaiting == nil ? rest : min(rest, .seconds(2)))
            } catch {
                let failure = BrokerClientError(error, location)
                switch error {
                case .busy:
                    guard ContinuousClock.now < busyEnd else { throw failure }
                    tellWaiting?()
                    tellWaiting = nil
                case .notRunning: try pause(before: deadline, otherwise: failure)
                default: throw failure
                }
            }
        }
    }

    private func pause(
        before deadline: ContinuousClock.Instant?, otherwise failure: BrokerClientError
    ) throws(BrokerClientError) {
        guard let deadline, ContinuousClock.now < deadline else { throw failure }
        usleep(20_000)
    }

    private func exchange(_ line: [UInt8]) -> Link.Outcome {
        guard let stream else { return .lost(sent: false) }
        let deadline = answerTimeout.map { ContinuousClock.now + $0 }
        switch send(line, on: stream, until: deadline) {
        case .bytes: return receiveAnswer(on: stream, until: deadline) ?? .lost(sent: true)
        case .wouldBlock: return .tooLate
        // A broker that refused the connection may have sent the reason before it hung up.
        case .ended: return receiveAnswer(on: stream, until: deadline) ?? .lost(sent: false)
        }
    }

    /// - Returns: `wouldBlock` if the broker took no more bytes in time.
    private func send(
        _ line: [UInt8], on stream: StreamSocket, until deadline: ContinuousClock.Instant?
    ) -> StreamSocket.Transfer {
        var rest = line[...]
        while !rest.isEmpty {
            switch rest.withUnsafeBytes({ stream.send($0) }) {
            case .bytes(let count): rest = rest.dropFirst(count)
            case .wouldBlock:
                guard wait(for: Int16(POLLOUT), on: stream, until: deadline) else { return .wouldBlock }
            case .ended: return .ended
            }
        }
        return .bytes(line.count)
    }

    /// `nil` if the connection ended first.
    private func receiveAnswer(
        on stream: StreamSocket, until deadline: ContinuousClock.Instant?
    ) -> Link.Outcome? {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        defer { buffer.deallocate() }
        var outcome: Link.Outcome?
        while outcome == nil {
            switch stream.receive(into: buffer) {
            case .bytes(let count):
                let isBounded = lines.append(UnsafeRawBufferPointer(rebasing: buffer[..<count])) { line in
                    outcome = outcome ?? self.outcome(of: line)
                }
                if !isBounded { return .garbled }
            case .wouldBlock:
                guard wait(for: Int16(POLLIN), on: stream, until: deadline) else { return .tooLate }
            case .ended: return nil
            }
        }
        return outcome
    }

    /// - Returns: false if the time is over, or the broker answers no one.
    private func wait(for events: Int16, on stream: StreamSocket, until deadline: ContinuousClock.Instant?) -> Bool {
        if let tellWaiting, !stream.wait(for: events, until: .now + .seconds(2)) {
            tellWaiting()
            self.tellWaiting = nil
        }
        if let deadline { return stream.wait(for: events, until: deadline) }
        while !stream.wait(for: events, until: .now + liveness.silence) {
            guard brokerAnswers() else { return false }
        }
        return true
    }

    /// Like ``Liveness/isAnswering(at:)``, for a program without tasks.
    private func brokerAnswers() -> Bool {
        let probe = DirectConnection(location: location, answerTimeout: liveness.answerTime)
        do throws(BrokerClientError) {
            try probe.connect(until: nil)
        } catch {
            return error.cause as? ConnectFailure != .busy
        }
        let line = Request(GetBrokerStatus.self, .init()).line(probe.nextID)
        if case .tooLate = probe.exchange(line) { return false }
        return true
    }

    private func outcome(of line: [UInt8]) -> Link.Outcome? {
        switch line.withUnsafeBytes({ try? ServerLine($0) }) {
        case .answer(let id, let answer):
            if id?.number == nextID { return .answer(answer) }
            if id == nil, case .error(let error) = answer { return .dismissed(error) }
            return nil
        case .notification: return nil
        case nil: return .garbled
        }
    }
}
