import BrokerSystem
import Glibc

/// A connected, trusted Unix stream socket. It does not own the descriptor: the opener closes it.
struct StreamSocket: Sendable {
    let descriptor: Int32

    /// Connects. A local connection succeeds at once, unless the broker's queue of connections is full.
    ///
    /// The owner is checked twice. The file's owner shows which user may have put the socket there; the peer's credentials
    /// show which one really listens, so that swapping the path between the two steps gains nothing. Without this check
    /// a client would send its requests, and later a person's sign-in page, to the first user to create the path.
    ///
    /// - Parameter patience: how long to block until there is room in the queue. Blocked callers are served in order.
    ///   With zero, the call never blocks.
    /// - Throws: ``ConnectFailure/busy`` if there was no room in that time, or a signal came.
    static func connect(
        to location: SocketLocation, waitingForRoom patience: Duration = .zero
    ) throws(ConnectFailure) -> StreamSocket {
        let owner = try trustedOwner(of: location.path)
        let waits = patience > .zero
        let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | (waits ? 0 : SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_UNIX, Int32(kind), 0)
        guard descriptor >= 0 else { throw .last() }
        let stream = StreamSocket(descriptor: descriptor)
        do {
            if waits { try stream.limitBlocking(to: patience) }
            try stream.connect(path: location.path)
            try stream.checkPeer(is: owner)
        } catch {
            close(descriptor)
            throw error
        }
        return stream
    }

    /// For connect(2) only: the other calls here set their own non-blocking flag.
    private func limitBlocking(to patience: Duration) throws(ConnectFailure) {
        let (seconds, attoseconds) = patience.components
        // At least a microsecond: zero would mean no limit.
        var limit = timeval(tv_sec: Int(seconds), tv_usec: max(1, Int(attoseconds / 1_000_000_000_000)))
        let size = socklen_t(MemoryLayout<timeval>.size)
        guard setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size) == 0 else { throw .last() }
    }

    private static func trustedOwner(of path: String) throws(ConnectFailure) -> uid_t {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw errno == ENOENT || errno == ENOTDIR ? .notRunning : .last()
        }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw .notASocket }
        guard isTrusted(status.st_uid) || isPlaced(path, of: status.st_uid) else {
            throw .untrusted(uid: status.st_uid)
        }
        return status.st_uid
    }

    /// The folder in which a broker for all users makes the sockets of sandboxes. Root makes it, for the broker's account.
    private static let sandboxes = "/run/brokerd-sandboxes/"
    /// The owner, in a user namespace, of files that belong to a user outside it (user_namespaces(7)).
    private static let unknownOwner: uid_t = 65_534

    /// Whether it is a sandbox's socket of a broker for all users: in the folder that root made for that, or mounted from there into
    /// this sandbox. Each folder above it belongs to the socket's owner, root or this user, and no other user can write to it.
    private static func isPlaced(_ path: String, of owner: uid_t) -> Bool {
        guard path.hasPrefix(sandboxes) || owner == unknownOwner && !UserNamespaceMap.has(owner) else { return false }
        var rest = path[...]
        while let slash = rest.lastIndex(of: "/") {
            let isSocketsOwn = rest.endIndex == path.endIndex
            rest = rest[..<slash]
            var facts = stat()
            guard lstat(rest.isEmpty ? "/" : String(rest), &facts) == 0, facts.st_mode & S_IFMT == S_IFDIR,
                facts.st_mode & (S_IWGRP | S_IWOTH) == 0,
                facts.st_uid == owner || !isSocketsOwn && isTrusted(facts.st_uid)
            else { return false }
        }
        return path.hasPrefix("/")
    }

    private func connect(path: String) throws(ConnectFailure) {
        guard let address = UnixAddress(path: path) else { throw .pathTooLong }
        let code = ProgramGroup.shown {
            address.withPointer { Glibc.connect(descriptor, $0, $1) == 0 ? 0 : errno }
        }
        guard code != 0 else { return }
        switch code {
        case ECONNREFUSED, ENOENT: throw .notRunning
        case EAGAIN, EINTR: throw .busy
        default: throw .system(errno: code)
        }
    }

    private func checkPeer(is owner: uid_t) throws(ConnectFailure) {
        var peer = SocketPeer()
        var size = socklen_t(MemoryLayout<SocketPeer>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 else { throw .last() }
        guard Self.isTrusted(peer.uid) || peer.uid == owner else { throw .untrusted(uid: peer.uid) }
    }

    private static func isTrusted(_ uid: uid_t) -> Bool { uid == geteuid() || uid == 0 }
}

/// The kernel's `struct ucred` (unix(7)), which glibc declares only with `_GNU_SOURCE`.
private struct SocketPeer {
    var pid: pid_t = 0
    var uid: uid_t = .max
    var gid: gid_t = .max
}

extension StreamSocket {
    /// The result of a non-blocking read or write.
    enum Transfer: Equatable {
        case bytes(Int)
        /// Nothing can be transferred now.
        case wouldBlock
        /// The peer is gone.
        case ended
    }

    /// Reads received data, at most `buffer.count` bytes.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
        Self.transfer { recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT)) }
    }

    /// Passes as many bytes to the kernel as it takes now.
    func send(_ bytes: UnsafeRawBufferPointer) -> Transfer {
        Self.transfer {
            Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
        }
    }

    /// Blocks until one of `events` (poll(2)), the connection's end, or a signal.
    ///
    /// - Returns: false if the deadline came first.
    func wait(for events: Int16, until deadline: ContinuousClock.Instant) -> Bool {
        var descriptors = pollfd(fd: descriptor, events: events, revents: 0)
        let rest = (deadline - .now).components
        // Rounded up by a millisecond: zero would not wait.
        let milliseconds = rest.seconds * 1000 + rest.attoseconds / 1_000_000_000_000_000 + 1
        return poll(&descriptors, 1, Int32(clamping: max(0, milliseconds))) != 0
    }

    private static func transfer(_ call: () -> Int) -> Transfer {
        while true {
            let count = call()
            if count > 0 { return .bytes(count) }
            if count == 0 { return .ended }
            switch errno {
            case EINTR: continue
            case EAGAIN: return .wouldBlock
            default: return .ended
            }
        }
    }
}
