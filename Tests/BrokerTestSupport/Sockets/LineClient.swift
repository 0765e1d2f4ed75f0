import BrokerSystem
import Glibc

/// A client of a line protocol on a plain Unix socket, which can misbehave in any way that a test needs.
///
/// Sending and receiving may be concurrent. Every wait ends with an error after `patience` seconds: that limit
/// only ends a test that would hang.
package actor LineClient {
    package enum Failure: Error, Equatable {
        case system(String, Int32)
        case noAnswer
        case closed
    }

    private let descriptor: Int32
    private let patience: Double
    private var received: [UInt8] = []
    private var isClosed = false

    package static func connect(to path: String, patience: Double = usualPatience) async throws -> LineClient {
        let end = ContinuousClock.now + .seconds(patience)
        while ContinuousClock.now < end {
            if let client = try connectAtOnce(to: path, patience: patience) { return client }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw Failure.noAnswer
    }

    /// - Returns: `nil` if the listener's queue is full.
    package static func connectAtOnce(to path: String, patience: Double = usualPatience) throws -> LineClient? {
        guard let address = UnixAddress(path: path) else { throw Failure.system("connect", ENAMETOOLONG) }
        let flags = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_UNIX, flags, 0)
        guard descriptor >= 0 else { throw Failure.system("socket", errno) }
        let client = LineClient(owning: descriptor, patience: patience)
        let code = address.withPointer { Glibc.connect(descriptor, $0, $1) == 0 ? 0 : errno }
        guard code == 0 || code == EAGAIN else { throw Failure.system("connect", code) }
        return code == 0 ? client : nil
    }

    /// Connects to a port of loopback.
    ///
    /// - Parameters:
    ///   - port: in host order.
    ///   - ip: `127.0.0.1` or `::1`.
    ///   - patience: seconds that every wait may take.
    /// - Returns: the connected client.
    /// - Throws: ``Failure/system(_:_:)`` if there is no listener.
    package static func connect(
        toPort port: UInt16, ip: String = "127.0.0.1", patience: Double = usualPatience
    ) throws -> LineClient {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(ip, "\(port)", &hints, &found) == 0, let found else {
            throw Failure.system("getaddrinfo", EINVAL)
        }
        defer { freeaddrinfo(found) }
        let descriptor = socket(found.pointee.ai_family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure.system("socket", errno) }
        // On loopback the kernel connects at once, or refuses.
        guard Glibc.connect(descriptor, found.pointee.ai_addr, found.pointee.ai_addrlen) == 0 else {
            defer { Glibc.close(descriptor) }
            throw Failure.system("connect", errno)
        }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        return LineClient(owning: descriptor, patience: patience)
    }

    /// Takes over a connected, non-blocking stream socket.
    package init(owning descriptor: Int32, patience: Double = usualPatience) {
        self.descriptor = descriptor
        self.patience = patience
    }

    deinit {
        if !isClosed { Glibc.close(descriptor) }
    }

    /// Sends a line and its newline.
    package func sendLine(_ line: String) async throws { try await send(line + "\n") }

    /// Sends exactly this, waiting while the peer does not read.
    package func send(_ text: String) async throws { try await send(Array(text.utf8)) }

    package func send(_ bytes: [UInt8]) async throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            rest = rest.dropFirst(try sendSome(rest))
            if !rest.isEmpty, try await !Readiness.wait(descriptor, for: .writing, seconds: patience) {
                throw Failure.noAnswer
            }
        }
    }

    /// Sends as much as the socket accepts at once.
    ///
    /// - Returns: the number of sent bytes; 0 if the peer is behind.
    package func sendSome(_ bytes: ArraySlice<UInt8>) throws -> Int {
        guard !isClosed else { throw Failure.closed }
        let count = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        if count >= 0 { return count }
        guard errno == EAGAIN || errno == EINTR else { throw Failure.system("send", errno) }
        return 0
    }

    /// The next line without its newline; `nil` if the peer closed the connection.
    package func readLine() async throws -> String? {
        while true {
            if let newline = received.firstIndex(of: UInt8(ascii: "\n")) {
                defer { received.removeFirst(newline + 1) }
                return String(decoding: received[..<newline], as: UTF8.self)
            }
            guard try await receive() else { return nil }
        }
    }

    /// The next `count` lines.
    package func readLines(_ count: Int) async throws -> [String] {
        var lines: [String] = []
        while lines.count < count {
            guard let line = try await readLine() else { throw Failure.closed }
            lines.append(line)
        }
        return lines
    }

    /// Everything up to the end of the connection.
    package func readToEnd() async throws -> String {
        while try await receive() {}
        defer { received = [] }
        return String(decoding: received, as: UTF8.self)
    }

    /// Whether unread data has arrived, or the end. For an open client.
    package nonisolated var hasInput: Bool {
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return Glibc.poll(&poll, 1, 0) == 1
    }

    /// Whether the peer has not read everything that was sent.
    package var isUnread: Bool { !isClosed && SocketQueue.unread(descriptor) > 0 }

    /// Sends a line and returns the next received one.
    package func ask(_ line: String) async throws -> String? {
        try await sendLine(line)
        return try await readLine()
    }

    /// Shuts down the sending side; answers can still be read.
    package func shutDownWriting() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Ends both directions, also for a concurrent reader.
    package func shutDown() { if !isClosed { shutdown(descriptor, Int32(SHUT_RDWR)) } }

    package func close() {
        guard !isClosed else { return }
        isClosed = true
        Glibc.close(descriptor)
    }

    /// - Returns: false at the end of the connection.
    private func receive() async throws -> Bool {
        while true {
            guard !isClosed else { throw Failure.closed }
            var chunk = [UInt8](repeating: 0, count: 64 << 10)
            let count = recv(descriptor, &chunk, chunk.count, 0)
            if count > 0 {
                received += chunk[..<count]
                return true
            }
            // A reset is the end of a connection with unread sent data.
            if count == 0 || errno == ECONNRESET { return false }
            guard errno == EAGAIN || errno == EINTR else { throw Failure.system("recv", errno) }
            guard try await Readiness.wait(descriptor, for: .reading, seconds: patience) else { throw Failure.noAnswer }
        }
    }
}
