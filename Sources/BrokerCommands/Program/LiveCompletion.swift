import BrokerCommandLine

/// Completions that a shell requests from the broker at Tab.
enum LiveCompletion {
    static var apps: Completion { Completion.output(of: "brokerctl apps list --names") }
    static var settings: Completion { Completion.output(of: "brokerctl config show --names") }
    static var accounts: Completion { Completion.output(of: "brokerctl accounts list --names") }

    /// The names, one per line, without those that contain a character special to a shell: bash expands candidates
    /// (`compgen -W`), so `$(…)` in a username would run as a command.
    static func lines(_ names: [String]) -> String {
        Set(names).filter { ShellText.quoted($0) == $0 }.sorted().map { $0 + "\n" }.joined()
    }
}
