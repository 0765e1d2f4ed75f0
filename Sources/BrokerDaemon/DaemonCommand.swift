import ArgumentParser
import BrokerConfig
import BrokerHost
import BrokerValues
import BrokerVault
import FoundationEssentials

/// The command line of `brokerd`.
struct DaemonCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "brokerd",
        abstract:
            "Owns the OAuth tokens of its user, or of every user, and hands out access tokens over a Unix socket.",
        discussion: """
            It stays in the foreground and logs to stderr, or to the journal when that is its stderr. Usually systemd \
            starts it: systemctl --user enable --now brokerd.socket.

            Exit status: 0 after SIGTERM, 1 when the socket cannot be had, 2 for usage or configuration, 4 when the \
            vault or its key cannot be opened.
            """,
        version: BrokerVersion.text)

    @Option(help: "Where to listen.", completion: .file())
    var socket: String?

    @Option(help: "The folder of the vault and its key.", completion: .directory)
    var stateDir: String?

    @Option(help: "The configuration file, instead of the usual ones.", completion: .file(extensions: ["toml"]))
    var config: String?

    @Option(help: "A PEM file of certificate authorities to trust besides the system's.", completion: .file())
    var caFile: String?

    @Flag(help: "Let authorities be plain http on loopback. For development.")
    var allowHttpLoopback = false

    @Flag(help: "Serve every user of the machine, each by itself, from one account of the broker's own.")
    var system = false

    @Flag(help: "Check the configuration, print it, and end.")
    var checkConfig = false

    @Option(help: "trace, debug, info, notice, warning, error or critical.")
    var logLevel: String?

    /// A path of the command line is meant from where the command was given; one of a file must be whole.
    private func fromHere(_ path: String) -> String {
        if path.isEmpty || path.hasPrefix("/") || path.hasPrefix("~/") { return path }
        return FileManager.default.currentDirectoryPath + "/" + path
    }

    var loader: ConfigurationLoader {
        var flags: [String: String] = [:]
        flags["socket.path"] = socket.map(fromHere)
        flags["vault.state_dir"] = stateDir.map(fromHere)
        flags["oauth.ca_file"] = caFile.map(fromHere)
        flags["oauth.allow_http_loopback"] = allowHttpLoopback ? "true" : nil
        flags["log.level"] = logLevel
        let environment = ProcessEnvironment.current()
        let paths = HostPaths(environment: environment, isSystemMode: system)
        return ConfigurationLoader(
            flags: flags, environment: environment,
            files: config.map { .only($0) } ?? .standard(paths.configurationFiles), isSystemMode: system,
            keySources: KeySources.names)
    }
}
