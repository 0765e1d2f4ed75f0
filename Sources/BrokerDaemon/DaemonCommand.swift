import BrokerCommandLine
import BrokerConfig
import BrokerHost
import BrokerSystem
import BrokerVault
import Glibc

/// The command line of `brokerd`. The last value of an option counts, so that a wrapper's option can be overridden.
package struct DaemonCommand: ArgumentGroup, Equatable, Sendable {
    package private(set) var socket: String?
    package private(set) var oidcAgentSocket: String?
    package private(set) var stateDirectory: String?
    package private(set) var configuration: String?
    package private(set) var caFile: String?
    package private(set) var allowsHTTPLoopback = false
    package private(set) var isSystemMode = false
    package private(set) var checksConfiguration = false
    package private(set) var logLevel: String?

    package init() {}

    package mutating func declare(in arguments: inout Arguments) {
        arguments.option("socket", &socket, value: "path", "Where to listen.")
        arguments.option(
            "oidc-agent-socket", &oidcAgentSocket, value: "path",
            "Where to listen for programs that ask oidc-agent, or off.")
        arguments.option("state-dir", &stateDirectory, value: "folder", "The folder of the vault and its key.")
        arguments.option("config", &configuration, value: "file", "The configuration file, instead of the usual ones.")
        arguments.option(
            "ca-file", &caFile, value: "file",
            "A PEM file of certificate authorities to trust in addition to the system's.")
        arguments.flag(
            "allow-http-loopback", &allowsHTTPLoopback, "Let authorities be plain http on loopback. For development.")
        arguments.flag(
            "system", &isSystemMode,
            "Serve every user of the machine, each by itself, from one account of the broker's own.")
        arguments.flag("check-config", &checksConfiguration, "Check the configuration, print it, and end.")
        arguments.option(
            "log-level", &logLevel, value: "level", "trace, debug, info, notice, warning, error or critical.")
    }

    package func validate() throws(UsageError) {
        let values = [
            ("socket", socket), ("oidc-agent-socket", oidcAgentSocket), ("state-dir", stateDirectory),
            ("config", configuration), ("ca-file", caFile), ("log-level", logLevel),
        ]
        for (name, value) in values where value == "" { throw UsageError("--\(name) needs a value.") }
    }

    /// A path on the command line is relative to the working directory or to home; one in a file must be absolute.
    private static func path(_ path: String?, home: String?) -> String? {
        guard let path, !path.hasPrefix("/") else { return path }
        guard !path.hasPrefix("~/") else {
            return home.flatMap { $0.hasPrefix("/") ? $0 + path.dropFirst() : nil } ?? path
        }
        guard let folder = getcwd(nil, 0) else { return path }
        defer { free(folder) }
        return String(validatingCString: folder).map { $0 + "/" + path } ?? path
    }

    package func loader(environment: [String: String] = ProcessEnvironment.current()) -> ConfigurationLoader {
        let home = environment["HOME"]
        var flags: [String: String] = [:]
        flags["socket.path"] = Self.path(socket, home: home)
        flags["doors.oidc_agent_socket"] =
            oidcAgentSocket == BrokerConfiguration.Doors.off ? oidcAgentSocket : Self.path(oidcAgentSocket, home: home)
        flags["vault.state_dir"] = Self.path(stateDirectory, home: home)
        flags["oauth.ca_file"] = Self.path(caFile, home: home)
        flags["oauth.allow_http_loopback"] = allowsHTTPLoopback ? "true" : nil
        flags["log.level"] = logLevel
        let paths = HostPaths(environment: environment, isSystemMode: isSystemMode)
        return ConfigurationLoader(
            flags: flags, environment: environment,
            files: Self.path(configuration, home: home).map { .only($0) } ?? .standard(paths.configurationFiles),
            isSystemMode: isSystemMode, keySources: KeySources.names)
    }
}
