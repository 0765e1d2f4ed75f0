import BrokerCommandLine
import BrokerCommands
import BrokerDaemon

/// brokerctl(1) and brokerd(8).
enum CommandPages {
    /// Options of every command are listed once.
    private static let common: Set<String> = ["socket", "json"]

    static func brokerctl() -> Roff {
        let root = Brokerctl.root
        var page = Roff("brokerctl", section: 1, title: "User Commands")
        page.section("NAME")
        page.synopsis("brokerctl - sign in once, and let every app have its own tokens")
        page.section("SYNOPSIS")
        page.synopsis("`brokerctl` [`--socket` <path>] [`--json`] <command> ...")
        page.section("DESCRIPTION")
        page.paragraphs(root.about.discussion)
        page.section("OPTIONS")
        for option in root.declarations + Declaration.standard { page.item(option.term, option.text) }
        page.section("COMMANDS")
        for command in root.subcommands { add(command, after: "brokerctl", to: &page) }
        page.section("EXIT STATUS")
        for (status, text) in [
            ("0", "Done."), ("1", "The request failed."), ("2", "The command line is wrong."),
            ("3", "There is no broker, it cannot start, or it cannot be trusted."),
            ("4", "A person is needed: to sign in (`brokerctl login`), to unlock the broker, or to choose an account."),
            ("5", "The caller may not do this, or has to be approved: `brokerctl grants`."),
            ("130", "Ended by Ctrl-C."),
        ] { page.item("`\(status)`", text) }
        page.section("ENVIRONMENT")
        page.item("`BROKER_SOCKET`", "The broker's socket.")
        page.item("`BROWSER`", "The browser for sign-in pages, instead of xdg-open.")
        page.item("`NO_COLOR`", "If it is set, output has no colours or emphasis.")
        page.section("SEE ALSO")
        page.synopsis("`brokerd`(8), `brokerd-config`(5), `brokerd-protocol`(7)")
        return page
    }

    private static func add(_ command: any Command.Type, after words: String, to page: inout Roff) {
        let name = "\(words) \(command.about.name)"
        guard command.subcommands.isEmpty else {
            for subcommand in command.subcommands { add(subcommand, after: name, to: &page) }
            return
        }
        let options = command.declarations.filter { !common.contains($0.name) }
        page.subsection(name)
        page.synopsis((["`\(name)`"] + options.map(\.usage)).joined(separator: " "))
        page.paragraphs("\(command.about.abstract)\n\n\(command.about.discussion)")
        for option in options { page.item(option.term, option.text) }
    }

    static func brokerd(variables: [(name: String, text: String)]) -> Roff {
        let options = DaemonCommand.declarations + Declaration.standard
        var page = Roff("brokerd", section: 8, title: "System Administration")
        page.section("NAME")
        page.synopsis("brokerd - owns a person's OAuth tokens and hands out access tokens over a Unix socket")
        page.section("SYNOPSIS")
        page.synopsis((["`brokerd`"] + options.map(\.usage)).joined(separator: " "))
        page.section("DESCRIPTION")
        page.paragraphs(DaemonHelp.discussion)
        page.paragraphs(
            """
            Refresh tokens stay in an encrypted vault; apps get only access tokens that they may have. The browser asks the \
            user when a provider requires a sign-in or another program requests access.

            With a socket from systemd(1) the first client starts the daemon. Without systemd:

              brokerd --socket ~/broker.sock --state-dir ~/broker
            """)
        page.section("OPTIONS")
        for option in options { page.item(option.term, option.text) }
        page.section("SIGNALS")
        page.item(
            "`SIGHUP`",
            "Reads the configuration again. One with a mistake changes nothing, and the log names the mistake.")
        page.item("`SIGTERM`, `SIGINT`", "Answers requests in progress, closes the vault and ends.")
        page.section("EXIT STATUS")
        for (status, text) in [
            ("0", "After `SIGTERM` or `SIGINT`."), ("1", "The socket cannot be bound."),
            ("2", "The command line or the configuration is wrong."), ("4", "The vault or its key cannot be opened."),
        ] { page.item("`\(status)`", text) }
        page.section("ENVIRONMENT")
        for (name, text) in variables { page.item("`\(name)`", text) }
        page.section("FILES")
        for (path, text) in [
            ("$XDG_RUNTIME_DIR/brokerd/broker.sock", "The socket."),
            ("$XDG_RUNTIME_DIR/brokerd/oidc-agent.sock", "The socket for programs that use oidc-agent."),
            ("~/.config/brokerd/config.toml, /etc/brokerd/config.toml", "The configuration, see `brokerd-config`(5)."),
            (
                "$XDG_STATE_HOME/brokerd, ~/.local/state/brokerd",
                "The folder of the vault, `vault.db`; with `--system`, /var/lib/brokerd."
            ), ("~/.local/share/brokerd-key", "Key files, one for each vault, where the key comes from a file."),
        ] { page.item("`\(path)`", text) }
        page.section("SEE ALSO")
        page.synopsis("`brokerctl`(1), `brokerd-config`(5), `brokerd-protocol`(7), `systemctl`(1)")
        return page
    }
}
