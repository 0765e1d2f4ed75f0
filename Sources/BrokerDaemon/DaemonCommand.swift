import BrokerConfig
import BrokerHost
import BrokerSystem
import BrokerVault
import Glibc

/// The command line of `brokerd`.
package struct DaemonCommand: Equatable, Sendable {
    /// A mistake in the command line, for the person who wrote it.
    package struct UsageError: Error, Equatable {
        package let text: String
    }

    /// The last one counts if an option is given twice, so that a wrapper's option can be overridden.
    private var values: [DaemonOption: String] = [:]

    /// - Parameter words: as the system gives them. Decoding invalid UTF-8 with repair would yield the name of another file.
    package init(bytes words: [[UInt8]]) throws(UsageError) {
        try self.init(
            words.map { word throws(UsageError) in
                guard let text = String(validating: word, as: UTF8.self) else {
                    throw UsageError(text: "The argument \(String(decoding: word, as: UTF8.self)) is not UTF-8.")
                }
                return text
            })
    }

    /// - Parameter words: without the program's name: `--option VALUE`, `--option=VALUE`, `--flag`.
    package init(_ words: [String]) throws(UsageError) {
        var rest = words[...]
        while let word = rest.popFirst() {
            let parts = Self.parts(of: word)
            guard let option = DaemonOption(word: parts[0]) else {
                let kind = word.hasPrefix("-") ? "option" : "argument"
                throw UsageError(text: "There is no \(kind) \(word).")
            }
            values[option] = try Self.value(of: option, attached: parts.count == 2 ? String(parts[1]) : nil, &rest)
            // These apply regardless of the other arguments.
            if option == .help || option == .version { break }
        }
    }

    /// Splits `--option=VALUE`.
    private static func parts(of word: String) -> [Substring] {
        word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    }

    private static func value(
        of option: DaemonOption, attached: String?, _ rest: inout ArraySlice<String>
    ) throws(UsageError) -> String {
        guard option.takesValue else {
            guard attached == nil else { throw UsageError(text: "\(option.word) takes no value.") }
            return "true"
        }
        let isNextOption = rest.first.map { DaemonOption(word: parts(of: $0)[0]) != nil } ?? false
        guard let value = attached ?? (isNextOption ? nil : rest.popFirst()), !value.isEmpty else {
            throw UsageError(text: "\(option.word) needs a value.")
        }
        return value
    }

    package func has(_ option: DaemonOption) -> Bool { values[option] != nil }

    package subscript(option: DaemonOption) -> String? { values[option] }

    /// A path on the command line is relative to the working directory or to home; one in a file must be absolute.
    private func path(_ option: DaemonOption, home: String?) -> String? {
        guard let path = values[option], !path.hasPrefix("/") else { return values[option] }
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
        flags["socket.path"] = path(.socket, home: home)
        flags["doors.oidc_agent_socket"] =
            values[.oidcAgentSocket] == BrokerConfiguration.Doors.off
            ? BrokerConfiguration.Doors.off : path(.oidcAgentSocket, home: home)
        flags["vault.state_dir"] = path(.stateDirectory, home: home)
        flags["oauth.ca_file"] = path(.caFile, home: home)
        flags["oauth.allow_http_loopback"] = values[.allowHTTPLoopback]
        flags["log.level"] = values[.logLevel]
        let paths = HostPaths(environment: environment, isSystemMode: has(.system))
        return ConfigurationLoader(
            flags: flags, environment: environment,
            files: path(.configuration, home: home).map { .only($0) } ?? .standard(paths.configurationFiles),
            isSystemMode: has(.system), keySources: KeySources.names)
    }
}
