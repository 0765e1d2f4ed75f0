import BrokerCommandLine

/// The output of `brokerd --help`, in 80 columns.
package enum DaemonHelp {
    package static let about =
        "Owns the OAuth tokens of its user, or of every user, and hands out access tokens over a Unix socket."

    package static let discussion = """
        It stays in the foreground and logs to stderr, or to the journal when that is its stderr. Usually systemd starts it: \
        systemctl --user enable --now brokerd.socket.

        Exit status: 0 after SIGTERM, 1 for a failure such as a socket that cannot be bound, 2 for usage or configuration, 4 when the vault or its \
        key cannot be opened.
        """

    package static var text: String {
        let help = ArgumentHelp(columns: 80)
        let declarations = DaemonCommand.declarations
        return [
            "OVERVIEW: \(about)", discussion, "USAGE: \(ArgumentHelp.usage("brokerd", declarations))",
            help.list("OPTIONS:", declarations + Declaration.standard),
        ].map(help.prose).joined(separator: "\n\n")
    }
}
