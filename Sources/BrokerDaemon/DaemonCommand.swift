import BrokerConfig
import BrokerHost
import BrokerVault
import Glibc

/// The command line of `brokerd`.
package struct DaemonCommand: Equatable, Sendable {
    /// What is wrong with it, to be told to who wrote it.
    package struct UsageError: Error, Equatable {
        package let text: String
    }

    /// The last one counts where an option is there twice, so that a wrapper's can be followed by another.
    private var values: [DaemonOption: String] = [:]

    /// - Parameter words: without the program's name: `--option VALUE`, `--option=VALUE`, `--flag`.
    package init(_ words: [String]) throws(UsageError) {
        var rest = words[...]
        while let word = rest.popFirst() {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let option = DaemonOption(word: parts[0]) else {
                let kind = word.hasPrefix("-") ? "option" : "argument"
                throw UsageError(text: "There is no \(kind) \(word).")
            }
            values[option] = try Self.value(of: option, attached: parts.count == 2 ? String(parts[1]) : nil, &rest)
            // Whoever asks for these is told, whatever else there is.
            if option == .help || option == .version { break }
        }
    }

    private static func value(
        of option: DaemonOption, attached: String?, _ rest: inout ArraySlice<String>
    ) throws(UsageError) -> String {
        guard option.takesValue else {
            guard attached == nil else { throw UsageError(text: "\(option.word) takes no value.") }
            return "true"
        }
        if let attached { return attached }
        guard let next = rest.first, DaemonOption(word: next) == nil else {
            throw UsageError(text: "\(option.word) needs a value.")
        }
        return rest.removeFirst()
    }

    package func has(_ option: DaemonOption) -> Bool { values[option] != nil }

    package subscript(option: DaemonOption) -> String? { values[option] }

    /// A path of the command line is meant from where the command was given; one of a file must be whole.
    private func path(_ option: DaemonOption) -> String? {
        guard let path = values[option], !path.isEmpty, !path.hasPrefix("/"), !path.hasPrefix("~/"),
            let folder = getcwd(nil, 0)
        else { return values[option] }
        defer { free(folder) }
        return String(cString: folder) + "/" + path
    }

    var loader: ConfigurationLoader {
        var flags: [String: String] = [:]
        flags["socket.path"] = path(.socket)
        flags["vault.state_dir"] = path(.stateDirectory)
        flags["oauth.ca_file"] = path(.caFile)
        flags["oauth.allow_http_loopback"] = values[.allowHTTPLoopback]
        flags["log.level"] = values[.logLevel]
        let environment = ProcessEnvironment.current()
        let paths = HostPaths(environment: environment, isSystemMode: has(.system))
        return ConfigurationLoader(
            flags: flags, environment: environment,
            files: values[.configuration].map { .only($0) } ?? .standard(paths.configurationFiles),
            isSystemMode: has(.system), keySources: KeySources.names)
    }
}
