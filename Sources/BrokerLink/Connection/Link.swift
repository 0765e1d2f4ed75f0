import BrokerRPC
import BrokerSystem
import BrokerValues
import Glibc
import Synchronization

/// One connection to the broker, from connect to its end, with the requests that wait on it.
///
/// Callers on any task queue their line and suspend. One thread reads, finds the caller by id, and writes what the
/// kernel did not take at once; no caller ever blocks a thread of the cooperative pool. The thread ends with the
/// connection, and only it closes the descriptors.
package final class Link: Sendable {
    /// The outcome of one request.
    enum Outcome: Sendable {
        case answer(ServerLine.Answer)
        /// The broker ended the connection with this error, which names no request.
        case dismissed(RPCError)
        /// The connection ended first. Not `sent` means that the broker cannot have seen the whole request.
        case lost(sent: Bool)
        /// The request is longer than a broker reads; it was not sent.
        case tooLong
        /// The received bytes are not the broker's protocol.
        case garbled
        /// The caller's task was cancelled.
        case abandoned
        /// The answer did not come within the caller's time limit.
        case tooLate
    }

    /// A message of the broker that answers no request: `event.account` and similar.
    package struct Notification: Sendable {
        package let method: String
        package let params: JSONNode

        package init(method: String, params: JSONNode) { (self.method, self.params) = (method, params) }
    }

    /// Receives the notifications, on the reading thread: it must not wait.
    typealias Observer = @Sendable (Notification) -> Void

    /// In bytes. The broker's own limit: beyond it, the broker would close the connection for all requests.
    static let longestRequest = 1 << 20

    private struct Waiting {
        let continuation: CheckedContinuation<Outcome, Never>
        let observer: Observer?
        /// The offset of the request's last byte in the stream of all queued bytes.
        let end: Int
    }

    private struct State {
        var isOpen = true
        var nextID: Int64 = 1
        var waiting: [Int64: Waiting] = [:]
        /// Assigned ids whose request is not queued yet; cancelling a task removes its id.
        var upcoming: Set<Int64> = []
        var outbox: [UInt8] = []
        var queued = 0
        var flushed = 0
        /// The error for calls that still wait at the end, unless the connection was lost.
        var finalOutcome: Outcome?
    }

    private let stream: StreamSocket
    /// Receives the broker's unsolicited messages, on the reading thread; and the connection's end, once.
    private let events: (@Sendable (Event) -> Void)?
    private let wake: (reader: Int32, writer: Int32)
    private let state = Mutex(State())

    enum Event: Sendable {
        /// `event.…`
        case happened(Notification)
        case connectionEnded
    }

    /// Connects and starts the reading thread.
    static func open(
        _ location: SocketLocation, events: (@Sendable (Event) -> Void)? = nil
    ) throws(ConnectFailure) -> Link {
        let stream = try StreamSocket.connect(to: location)
        var ends: [Int32] = [-1, -1]
        guard
            socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends)
                == 0
        else {
            let failure = ConnectFailure.last()
            Glibc.close(stream.descriptor)
            throw failure
        }
        let link = Link(stream: stream, events: events, wake: (ends[0], ends[1]))
        let status = DetachedThread.start { link.readUntilEnd() }
        guard status == 0 else {
            link.closeDescriptors()
            throw .system(errno: status)
        }
        return link
    }

    private init(
        stream: StreamSocket, events: (@Sendable (Event) -> Void)?, wake: (reader: Int32, writer: Int32)
    ) {
        self.stream = stream
        self.events = events
        self.wake = wake
    }

    /// Whether new requests may still be queued.
    var isOpen: Bool { state.withLock { $0.isOpen } }

    /// Ends the connection; calls that still wait fail as lost.
    func close() {
        state.withLock { if $0.isOpen { endSending(&$0) } }
    }

    /// Received data stays readable; then the reading thread reaches the end.
    private func endSending(_ state: inout State) {
        state.isOpen = false
        shutdown(stream.descriptor, Int32(SHUT_RDWR))
    }

    /// Sends one request and waits for its answer. Cancelling the task abandons the wait, not the request.
    ///
    /// - Parameters:
    ///   - observer: receives the notifications that arrive in the meantime.
    ///   - line: makes the request's line, newline included, for the given id.
    /// - Returns: the outcome of the request.
    func exchange(observer: Observer? = nil, line: (Int64) -> [UInt8]) async -> Outcome {
        let id = state.withLock { state in
            defer { state.nextID += 1 }
            state.upcoming.insert(state.nextID)
            return state.nextID
        }
        let bytes = line(id)
        guard bytes.count <= Self.longestRequest else {
            abandon(id)
            return .tooLong
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                queue(bytes, id: id, continuation, observer)
            }
        } onCancel: {
            abandon(id)
        }
    }

    private func queue(
        _ bytes: [UInt8], id: Int64, _ continuation: CheckedContinuation<Outcome, Never>, _ observer: Observer?
    ) {
        let refusal: Outcome? = state.withLock { state in
            guard state.upcoming.remove(id) != nil else { return .abandoned }
            guard state.isOpen else { return .lost(sent: false) }
            state.queued += bytes.count
            state.waiting[id] = Waiting(continuation: continuation, observer: observer, end: state.queued)
            let hadBacklog = !state.outbox.isEmpty
            state.outbox += bytes
            if !hadBacklog { flush(&state) }
            return nil
        }
        if let refusal { continuation.resume(returning: refusal) }
    }

    private func abandon(_ id: Int64) {
        let waiting: Waiting? = state.withLock { state in
            state.upcoming.remove(id)
            return state.waiting.removeValue(forKey: id)
        }
        waiting?.continuation.resume(returning: .abandoned)
    }

    /// Writes what the kernel takes; the thread writes the rest when there is room.
    ///
    /// A broken pipe is not the end yet: the broker may have sent a reason before it closed, which must still be read.
    private func flush(_ state: inout State) {
        while !state.outbox.isEmpty {
            switch state.outbox.withUnsafeBytes({ stream.send($0) }) {
            case .bytes(let count):
                state.flushed += count
                state.outbox.removeFirst(count)
            case .wouldBlock:
                var nudge: UInt8 = 1
                _ = Glibc.send(wake.writer, &nudge, 1, Int32(MSG_NOSIGNAL))
                return
            case .ended:
                endSending(&state)
                return
            }
        }
    }
}

// MARK: - The reading thread

extension Link {
    private static let bufferSize = 64 << 10

    private func readUntilEnd() {
        var lines = LineAssembler()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.bufferSize, alignment: 16)
        defer { buffer.deallocate() }
        while waitForEvents() {
            switch stream.receive(into: buffer) {
            case .bytes(let count):
                let arrived = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                guard lines.append(arrived, each: deliver) else { return finish(.garbled) }
            case .wouldBlock:
                continue
            case .ended:
                return finish()
            }
        }
        finish()
    }

    /// Waits until there is something to read or room to write. False if waiting itself failed.
    private func waitForEvents() -> Bool {
        let hasBacklog = state.withLock { !$0.outbox.isEmpty && $0.isOpen }
        var descriptors = [
            pollfd(fd: stream.descriptor, events: Int16(POLLIN | (hasBacklog ? POLLOUT : 0)), revents: 0),
            pollfd(fd: wake.reader, events: Int16(POLLIN), revents: 0),
        ]
        guard poll(&descriptors, 2, -1) >= 0 else { return errno == EINTR }
        if descriptors[1].revents != 0 {
            var nudges: [UInt8] = Array(repeating: 0, count: 16)
            _ = recv(wake.reader, &nudges, nudges.count, Int32(MSG_DONTWAIT))
        }
        if descriptors[0].revents & Int16(POLLOUT) != 0 {
            state.withLock { if $0.isOpen { flush(&$0) } }
        }
        return true
    }

    private func deliver(_ line: [UInt8]) {
        switch line.withUnsafeBytes({ try? ServerLine($0) }) {
        case .answer(let id, let answer): settle(id, answer)
        case .notification(let method, let params): pass(Notification(method: method, params: params))
        case nil:
            // Any failure may have lost an answer, and no call may wait for a lost answer.
            state.withLock { state in
                state.finalOutcome = .garbled
                if state.isOpen { endSending(&state) }
            }
        }
    }

    private func settle(_ id: RequestID?, _ answer: ServerLine.Answer) {
        if let number = id?.number {
            // No caller waits for an answer after its task was cancelled.
            state.withLock { $0.waiting.removeValue(forKey: number) }?.continuation.resume(returning: .answer(answer))
        } else if case .error(let error) = answer {
            state.withLock { $0.finalOutcome = .dismissed(error) }
        }
    }

    /// At most one waiting request has an observer, because an interaction has a connection of its own.
    private func pass(_ notification: Notification) {
        if notification.method.hasPrefix("event.") {
            events?(.happened(notification))
            return
        }
        let observers = state.withLock { state in state.waiting.values.compactMap { $0.observer } }
        observers.first?(notification)
    }

    private func finish(_ ending: Outcome? = nil) {
        let (waiting, flushed, finalOutcome) = state.withLock { state in
            state.isOpen = false
            defer { state.waiting = [:] }
            return (state.waiting.values, state.flushed, ending ?? state.finalOutcome)
        }
        closeDescriptors()
        for one in waiting {
            one.continuation.resume(returning: finalOutcome ?? .lost(sent: one.end <= flushed))
        }
        events?(.connectionEnded)
    }

    /// After `isOpen` turned false under the lock, only this thread uses the descriptors.
    private func closeDescriptors() {
        Glibc.close(stream.descriptor)
        Glibc.close(wake.reader)
        Glibc.close(wake.writer)
    }
}
