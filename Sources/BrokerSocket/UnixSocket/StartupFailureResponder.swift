import BrokerModel
import Glibc

/// Clients that wait at sockets for a broker that cannot start: each gets the reason, so that none waits in vain and the service
/// manager, which starts the broker while a client waits, does not start it again and again.
///
/// It blocks its thread, and is for a process that does nothing else yet.
package struct StartupFailureResponder: ~Copyable {
    private let listeners: [Int32]
    private let servedUID: uid_t?
    /// Answered clients, until they hang up: closing earlier would make their next write fail, and many programs then never read.
    private var answered: [Int32] = []

    private static let maximumAnswered = 64

    /// - Parameters:
    ///   - listeners: listening sockets, which stay open.
    ///   - servedUID: the user whose processes get the reason; others get nothing. `nil` for all users.
    package init(_ listeners: [Int32], servedUID: uid_t?) {
        self.listeners = listeners
        self.servedUID = servedUID
    }

    deinit { for descriptor in answered { close(descriptor) } }

    /// Whether a client waits, by the end of `patience` at the latest.
    package mutating func hasClient(within patience: Duration) -> Bool {
        let deadline = ContinuousClock.now + patience
        while true {
            var descriptors = (listeners + answered).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            let rest = max(.zero, deadline - .now)
            let milliseconds = rest.components.seconds * 1000 + rest.components.attoseconds / 1_000_000_000_000_000
            let count = poll(&descriptors, nfds_t(descriptors.count), Int32(clamping: milliseconds))
            guard count >= 0 || errno == EINTR else { return false }
            if descriptors.prefix(listeners.count).contains(where: { $0.revents != 0 }) { return true }
            for descriptor in descriptors.dropFirst(listeners.count) where descriptor.revents != 0 {
                drain(descriptor.fd)
            }
            if ContinuousClock.now >= deadline { return false }
        }
    }

    /// Accepts all waiting clients, sends each the reason, and reads nothing from them.
    ///
    /// - Parameter words: the message for the clients of a listener, delimiter included.
    package mutating func answerAll(saying words: (_ listener: Int32) -> [UInt8]) {
        while hasClient(within: .zero) {
            var isAnyTaken = false
            for listener in listeners where dismissOne(of: listener, saying: words(listener)) { isAnyTaken = true }
            guard isAnyTaken else { return }
        }
    }

    /// - Returns: false if none waits, or none can be accepted.
    private mutating func dismissOne(of listener: Int32, saying line: [UInt8]) -> Bool {
        var waiting = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, 0) == 1 else { return false }
        let client = accept(listener, nil, nil)
        guard client >= 0 else { return false }
        guard let peer = try? PeerCredentials(ofSocket: client), servedUID == nil || peer.uid == servedUID else {
            close(client)
            return true
        }
        // A line of this length always fits into the buffer of a new connection.
        _ = send(client, line, line.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        shutdown(client, Int32(SHUT_WR))
        if answered.count == Self.maximumAnswered { close(answered.removeFirst()) }
        answered.append(client)
        return true
    }

    /// Drops further bytes of a client; closes the connection after it hung up.
    private mutating func drain(_ client: Int32) {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = recv(client, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        guard count == 0 || count < 0 && errno != EAGAIN && errno != EINTR else { return }
        close(client)
        answered.removeAll { $0 == client }
    }
}
