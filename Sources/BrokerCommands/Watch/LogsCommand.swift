import BrokerCommandLine
import BrokerLink
import BrokerSystem
import Glibc

struct LogsCommand: Subcommand {
    static var about: About {
        About(
            "logs", "Show the broker's log.",
            """
            One sentence for each request that matters: the caller, the app and the outcome. The log is in your user \
            journal; if one broker serves the machine, it is in the system's journal, which root and the group \
            systemd-journal can read. With --json, prints the journal's entries with all their fields.

            Examples:
              brokerctl logs
              brokerctl logs --since '1 hour ago' --follow
              brokerctl logs --app notes --lines 20
            """)
    }

    var global = GlobalOptions()
    var follow = false
    var since: String?
    var lines: Int?
    var app: String?

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.flag("follow", &follow, short: "f", "Follow new entries (Ctrl-C to stop).")
        arguments.option(
            "since", &since, value: "time",
            "Only entries since then, as for journalctl: '2026-01-31 12:00', yesterday, '10 min ago'.")
        arguments.option("lines", &lines, value: "number", "How many of the newest (100 if left out, without --since).")
        arguments.option("app", &app, value: "name", "Only requests as this app.", completing: LiveCompletion.apps)
    }

    func validate() throws(UsageError) {
        if let lines, lines < 1 { throw UsageError("--lines takes 1 or more.") }
    }

    /// Uses every journal that the user may read: one in memory has no file per user.
    func run(in context: CommandContext) throws(BrokerClientError) {
        // The usual socket identifies the broker without waking it.
        let location = context.connection.location
        let units = location.isUsual ? location.units : (try? TargetBroker.ask(context))?.units ?? .own
        guard let entries = ChildProcess.report(of: units.journal + ["--lines", "1", "--output", "cat", "--quiet"])
        else { throw Self.nothing("There is no journalctl here") }
        guard entries.status == 0, !entries.text.isEmpty || follow else {
            throw Self.nothing("The journal that you may read has no entries of \(units.service)")
        }
        try become(units.journal + ["--no-hostname", "--quiet"] + arguments(json: context.output.json))
    }

    private func arguments(json: Bool) -> [String] {
        var arguments = json ? ["--output", "json"] : ["--output", "short-iso"]
        if follow { arguments.append("--follow") }
        if let since { arguments.append("--since=\(since)") }
        if let lines = lines ?? (since == nil ? 100 : nil) { arguments.append("--lines=\(lines)") }
        if let app { arguments.append("BROKER_APP=\(app)") }
        return arguments
    }

    private static func nothing(_ reason: String) -> BrokerClientError {
        BrokerClientError(
            .unsupported,
            "\(reason). A broker started by hand logs to its own stderr, one started by systemd to the journal. "
                + "Only root and members of systemd-journal can read the log of the machine's broker, or a journal kept in memory."
        )
    }
}

/// Replaces this process with another program, which keeps the terminal, signals and exit status.
///
/// - Throws: only if there is no such program.
func become(_ arguments: [String]) throws(BrokerClientError) -> Never {
    withCStrings(arguments) { _ = execvp(arguments[0], $0) }
    throw BrokerClientError(.unsupported, "\(arguments[0]) cannot be started: \(errnoText(errno)).")
}
