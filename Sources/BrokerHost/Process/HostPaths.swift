import BrokerSystem
import Glibc

/// The paths of files, by the XDG base directory specification and systemd's variables.
package struct HostPaths: Sendable, Equatable {
    /// A relative path in one of the variables is ignored, as the specification asks.
    private let environment: [String: String]
    private let isSystemMode: Bool
    private let uid: UInt32

    /// - Parameters:
    ///   - isSystemMode: one broker for many users, under an account of its own.
    ///   - uid: the process's uid; part of the runtime directory's default if `XDG_RUNTIME_DIR` is not set.
    package init(
        environment: [String: String] = ProcessEnvironment.current(), isSystemMode: Bool = false, uid: UInt32 = getuid()
    ) {
        self.environment = environment
        self.isSystemMode = isSystemMode
        self.uid = uid
    }

    /// The socket's path if neither a flag, nor `BROKER_SOCKET`, nor a file names one.
    package var socket: String {
        if isSystemMode { return "/run/brokerd/broker.sock" }
        return runtimeDirectory + "/brokerd/broker.sock"
    }

    /// The runtime directory of the user's sessions.
    package var runtimeDirectory: String { absolute("XDG_RUNTIME_DIR") ?? "/run/user/\(uid)" }

    /// The folder that records the vault's last commit for as long as the session lasts; for a system service, until the machine is
    /// restarted (`RuntimeDirectory=`). It is not next to the socket, whose folder is root's.
    package var anchors: String { anchorsParent + (isSystemMode ? "/anchors" : "/brokerd/anchors") }

    /// The folder in which ``anchors`` is created. A process that cannot write here records nothing.
    package var anchorsParent: String {
        guard isSystemMode else { return runtimeDirectory }
        if let prepared = environment["RUNTIME_DIRECTORY"]?.split(separator: ":").first, prepared.hasPrefix("/") {
            return String(prepared)
        }
        return "/run/brokerd-private"
    }

    /// The folder in which a system service makes sockets for sandboxes: the second one of `RuntimeDirectory=`, which other users
    /// may pass through; `nil` if none was prepared.
    package var sandboxes: String? {
        guard isSystemMode else { return nil }
        return environment["RUNTIME_DIRECTORY"]?.split(separator: ":").dropFirst().first.map(String.init)
    }

    /// The vault's place if neither a flag nor a file names one. `nil` without a home directory.
    package var statePlace: StatePlace? {
        // `StateDirectory=` of the unit; the first of a colon-separated list.
        let prepared = environment["STATE_DIRECTORY"]?.split(separator: ":").first.map(String.init)
            .flatMap { $0.hasPrefix("/") ? $0 : nil }
        if isSystemMode { return .prepared(prepared ?? "/var/lib/brokerd") }
        let state = (absolute("XDG_STATE_HOME") ?? home.map { $0 + "/.local/state" }).map { $0 + "/brokerd" }
        let settings = settings.map { $0 + "/brokerd" }
        // The unit of an earlier release has systemd prepare one of these two.
        if let prepared, prepared != state, prepared != settings { return .prepared(prepared) }
        return state.map { .own($0, earlier: settings) }
    }

    /// The folder of a key file, apart from the vault: in another folder of the home directory than configuration and state,
    /// which people keep under version control or copy to other machines. `nil` without a home directory.
    package var keyDirectory: String? {
        if isSystemMode { return "/var/lib/brokerd-key" }
        return (absolute("XDG_DATA_HOME") ?? home.map { $0 + "/.local/share" }).map { $0 + "/brokerd-key" }
    }

    /// Configuration files, strongest first. A system-mode broker reads no file of a user.
    package var configurationFiles: [String] {
        let system = "/etc/brokerd/config.toml"
        guard !isSystemMode, let settings else { return [system] }
        return [settings + "/brokerd/config.toml", system]
    }

    private var settings: String? { absolute("XDG_CONFIG_HOME") ?? home.map { $0 + "/.config" } }

    private var home: String? { absolute("HOME") }

    private func absolute(_ name: String) -> String? {
        guard var path = environment[name], path.hasPrefix("/") else { return nil }
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        return path
    }
}
