/// An option of `brokerd`. The parser, the help and the manual page share this list.
package enum DaemonOption: String, CaseIterable, Sendable {
    case socket
    case oidcAgentSocket = "oidc-agent-socket"
    case stateDirectory = "state-dir"
    case configuration = "config"
    case caFile = "ca-file"
    case allowHTTPLoopback = "allow-http-loopback"
    case system
    case checkConfiguration = "check-config"
    case logLevel = "log-level"
    case version
    case help

    /// - Parameter word: with its dashes.
    init?(word: some StringProtocol) {
        guard word != "-h" else {
            self = .help
            return
        }
        guard word.hasPrefix("--") else { return nil }
        self.init(rawValue: String(word.dropFirst(2)))
    }

    /// The option as typed.
    package var word: String { "--\(rawValue)" }

    package var takesValue: Bool {
        switch self {
        case .socket, .oidcAgentSocket, .stateDirectory, .configuration, .caFile, .logLevel: true
        case .allowHTTPLoopback, .system, .checkConfiguration, .version, .help: false
        }
    }

    package var summary: String {
        switch self {
        case .socket: "Where to listen."
        case .oidcAgentSocket: "Where to listen for programs that ask oidc-agent, or off."
        case .stateDirectory: "The folder of the vault and its key."
        case .configuration: "The configuration file, instead of the usual ones."
        case .caFile: "A PEM file of certificate authorities to trust in addition to the system's."
        case .allowHTTPLoopback: "Let authorities be plain http on loopback. For development."
        case .system: "Serve every user of the machine, each by itself, from one account of the broker's own."
        case .checkConfiguration: "Check the configuration, print it, and end."
        case .logLevel: "trace, debug, info, notice, warning, error or critical."
        case .version: "Show the version."
        case .help: "Show help information."
        }
    }
}
