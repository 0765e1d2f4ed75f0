/// What a shell offers after Tab, asked of the broker at that moment.
enum LiveCompletion {
    static var apps: Completion { Completion.output(of: "brokerctl apps list --names") }
    static var settings: Completion { Completion.output(of: "brokerctl config show --names") }
    static var accounts: Completion { Completion.output(of: "brokerctl accounts list --names") }

    /// The names, one a line. Left out are those with a character that means something to a shell: bash expands what it is
    /// offered (`compgen -W`), so that `$(…)` in a username would be a command.
    static func lines(_ names: [String]) -> String {
        Set(names).filter { ShellText.quoted($0) == $0 }.sorted().map { $0 + "\n" }.joined()
    }
}
