import BrokerValues

/// Command lines of the user's own ssh, whose configuration tells how to reach the host.
package struct SSHProgram: Sendable {
    package let host: String

    package init(host: String) { self.host = host }

    /// The connection that all programs of a login share.
    package enum Sharing: Sendable, Equatable {
        /// The user's own connection, which already exists.
        case joined(controlPath: String)
        /// A new one for this login.
        case own(controlPath: String)

        package var controlPath: String {
            switch self {
            case .joined(let path), .own(let path): path
            }
        }
    }

    /// Prints the configuration for that host.
    package var configuration: [String] { ["ssh", "-G", "--", host] }

    /// - Parameter configuration: the configuration that ssh prints: `controlpath /home/alice/.ssh/control-devbox`.
    package static func controlPath(in configuration: String) -> String? {
        let name = "controlpath "
        let line = configuration.utf8.split(separator: UInt8(ascii: "\n")).first { $0.starts(with: name.utf8) }
        return line.map { String(Substring($0.dropFirst(name.utf8.count))) }.flatMap { $0 == "none" ? nil : $0 }
    }

    /// Checks whether a connection can be shared.
    package func check(_ controlPath: String) -> [String] { control("check", controlPath) }

    /// The first program on the connection, without a terminal. The configuration's `ControlPersist` would keep the connection open.
    package func first(_ sharing: Sharing, _ command: String) -> [String] {
        let master =
            switch sharing {
            case .joined: ["-o", "ControlMaster=no"]
            case .own: ["-M", "-o", "ControlPersist=no"]
            }
        return session(sharing, master + ["-T"], command)
    }

    /// The user's program.
    ///
    /// - Parameter hasTerminal: whether to request a remote terminal: by itself, ssh does so only without a command.
    package func main(_ sharing: Sharing, _ command: String, hasTerminal: Bool) -> [String] {
        session(sharing, ["-o", "ControlMaster=no"] + (hasTerminal ? ["-t"] : []), command)
    }

    private func session(_ sharing: Sharing, _ options: [String], _ command: String) -> [String] {
        ["ssh", "-S", Self.unexpanded(sharing.controlPath)] + options
            + ["-o", "RemoteCommand=none", "--", host, command]
    }

    /// A forward on an existing connection: its failure is reported, and `ClearAllForwardings`, `ExitOnForwardFailure` and the
    /// forwards of the configuration do not affect it.
    package func forward(_ sharing: Sharing, from far: String, to near: String) -> [String] {
        control("forward", sharing.controlPath, ["-R", Self.forwarding(far, near)])
    }

    package func cancel(_ sharing: Sharing, from far: String, to near: String) -> [String] {
        control("cancel", sharing.controlPath, ["-R", Self.forwarding(far, near)])
    }

    private func control(_ what: String, _ controlPath: String, _ options: [String] = []) -> [String] {
        ["ssh", "-F", "none", "-S", Self.unexpanded(controlPath), "-O", what] + options + ["--", host]
    }

    /// In a forward, a colon ends a path, and a backslash escapes it.
    private static func forwarding(_ far: String, _ near: String) -> String {
        let escaped = near.replacing(scalar: "\\", with: "\\\\").replacing(scalar: ":", with: "\\:")
        return "\(far):\(unexpanded(escaped))"
    }

    /// ssh expands percent sequences.
    private static func unexpanded(_ path: String) -> String { path.replacing(scalar: "%", with: "%%") }
}
