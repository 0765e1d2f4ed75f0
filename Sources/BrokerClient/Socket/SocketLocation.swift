import Glibc

/// Where the broker of this person listens (docs/protocol.md, "Transport").
package struct SocketLocation: Sendable, Hashable {
    package let path: String

    package init(path: String) {
        self.path = path
    }

    /// The first that is set: `path`, `$BROKER_SOCKET`, `$XDG_RUNTIME_DIR/brokerd/broker.sock`,
    /// `/run/user/UID/brokerd/broker.sock`. A session without a runtime directory variable (cron, `sudo -u`) still
    /// finds the broker of its uid by the last.
    package static func resolve(
        path: String? = nil, environment: (String) -> String? = Self.variable, uid: uid_t = geteuid()
    ) -> SocketLocation {
        if let path, !path.isEmpty { return SocketLocation(path: path) }
        if let named = environment("BROKER_SOCKET"), !named.isEmpty { return SocketLocation(path: named) }
        // As the specification asks, and as brokerd does: a relative path is ignored.
        if let runtime = environment("XDG_RUNTIME_DIR"), runtime.hasPrefix("/") {
            return SocketLocation(path: runtime + "/brokerd/broker.sock")
        }
        return SocketLocation(path: "/run/user/\(uid)/brokerd/broker.sock")
    }

    /// One variable of the process's environment.
    package static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}
