import Glibc

/// The socket of this person's broker (docs/protocol.md, "Transport").
package struct SocketLocation: Sendable, Hashable {
    package let path: String
    /// The socket of the machine's broker, if the person has one of their own as well.
    package let other: String?

    package init(path: String, other: String? = nil) {
        self.path = path
        self.other = other
    }

    /// The first that is set: `path`, `$BROKER_SOCKET`, `$XDG_RUNTIME_DIR/brokerd/broker.sock`,
    /// `/run/user/UID/brokerd/broker.sock`. The last one lets a session without the runtime directory variable (cron,
    /// `sudo -u`) find the broker of its uid. A person without a socket at the last two uses the one that serves all users, if
    /// it exists or is enabled.
    package static func resolve(
        path: String? = nil, environment: (String) -> String? = Self.variable, uid: uid_t = geteuid(),
        isThere: (String) -> Bool = Self.isThere
    ) -> SocketLocation {
        if let path, !path.isEmpty { return SocketLocation(path: path) }
        if let named = environment("BROKER_SOCKET"), !named.isEmpty { return SocketLocation(path: named) }
        // As the specification requires, and as in brokerd: a relative path is ignored.
        if let runtime = environment("XDG_RUNTIME_DIR"), runtime.hasPrefix("/") {
            return own(runtime + "/brokerd/broker.sock", isThere)
        }
        return own("/run/user/\(uid)/brokerd/broker.sock", isThere)
    }

    /// The path as a process with another working directory needs it.
    package var absolutePath: String {
        guard !path.hasPrefix("/"), let folder = getcwd(nil, 0) else { return path }
        defer { free(folder) }
        return String(cString: folder) + "/" + path
    }

    /// Whether it is the socket of a broker in system mode.
    package var isEverybodys: Bool { path == Self.everybodys }

    /// Whether it is a standard location of the person's broker or the machine's, not one that was given.
    package var isUsual: Bool {
        isEverybodys || path == Self.resolve(environment: { $0 == "BROKER_SOCKET" ? nil : Self.variable($0) }).path
    }

    private static let everybodys = "/run/brokerd/broker.sock"
    /// Exists if the administrator has enabled the machine's broker: then people have none of their own (brokerd.socket).
    private static let systemBrokerEnabled = "/etc/systemd/system/sockets.target.wants/brokerd-system.socket"

    private static func own(_ path: String, _ isThere: (String) -> Bool) -> SocketLocation {
        let (isOwn, isEverybodys) = (isThere(path), isThere(everybodys))
        if isOwn { return SocketLocation(path: path, other: isEverybodys ? everybodys : nil) }
        return SocketLocation(path: isEverybodys || isThere(systemBrokerEnabled) ? everybodys : path)
    }

    package static func isThere(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// One variable of the process's environment.
    package static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}
