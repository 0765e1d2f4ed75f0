import BrokerValues

extension BrowserCommand {
    /// What to try: the configured command and no other; else, in this order, the commands of `$BROWSER`, and the
    /// desktop's default browser when the variable names none.
    ///
    /// Inside a systemd service the user's manager is asked to start them: a browser started from here would live in
    /// the broker's sandbox and end with it.
    package static func candidates(configured: [String] = [], environment: [String: String]) -> [BrowserCommand] {
        var commands = BrowserCommand(configured).map { [$0] } ?? named(by: environment["BROWSER"])
        if commands.isEmpty { commands = ofDesktop(hasSessionBus: environment["DBUS_SESSION_BUS_ADDRESS"] != nil) }
        guard environment["INVOCATION_ID"] != nil else { return commands }
        return commands.map { $0 == .portal ? $0 : $0.startedByUserManager }
    }

    private var startedByUserManager: BrowserCommand {
        // With a description of its own: the default one is the whole command line, and it would be logged.
        BrowserCommand(
            program: "systemd-run",
            words: ["--user", "--collect", "--quiet", "--description=Sign-in page", "--", program] + words)
    }
}
