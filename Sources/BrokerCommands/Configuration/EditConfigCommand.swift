import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerSystem
import BrokerValues
import Glibc

struct EditConfigCommand: Subcommand {
    static var about: About {
        About(
            "edit", "Change the broker's configuration file in an editor.",
            """
            Opens a copy with $VISUAL or $EDITOR. It takes the file's place when the daemon finds no new \
            mistake in it; otherwise you can fix it. Where one broker serves the whole machine, the file is root's.

            Examples:
              brokerctl config edit
              EDITOR=nano brokerctl config edit
            """)
    }

    var global = GlobalOptions()

    func run(in context: CommandContext) throws(BrokerClientError) {
        let broker = try TargetBroker.ask(context)
        let file = try SettingsFile(of: broker)
        try file.requireRight()
        let before = try file.text()
        try file.write(candidate: before.isEmpty ? Self.template : before)
        var discards = true
        defer { if discards { file.discard() } }
        while true {
            try edit(file.candidate)
            do throws(BrokerClientError) {
                try file.check()
                break
            } catch {
                guard error.code == .invalidParameter, isatty(STDIN_FILENO) == 1 else { throw error }
                context.output.aside("brokerctl: " + error.message.clean)
                context.output.aside("Press Return to fix it, or Ctrl-D to leave everything as it was.")
                guard StandardInput.line() != nil else {
                    throw BrokerClientError(.userCanceled, "Nothing has changed.")
                }
            }
        }
        do throws(BrokerClientError) {
            try file.whileLocked { () throws(BrokerClientError) in
                guard try file.text() == before else {
                    throw BrokerClientError(
                        .userCanceled, "\(file.path) was changed while you edited, and stays as it is.")
                }
                try file.keep()
            }
        } catch {
            discards = false
            throw BrokerClientError(error.code, "\(error.message) Your text is in \(file.candidate).", cause: error)
        }
        let taken = RunningConfiguration(broker, context.connection).takeChanges()
        let result: JSONValue = ["file": .string(file.path)]
        context.output.result(JSONText.node(of: result)) {
            "\(file.path) is changed.".clean + "\n" + taken
        }
    }

    /// The variable is a shell command line, as in git and sudoedit.
    private func edit(_ path: String) throws(BrokerClientError) {
        let editor = ["VISUAL", "EDITOR"].compactMap(SocketLocation.variable).first { !$0.isEmpty } ?? "vi"
        let arguments = ["/bin/sh", "-c", "\(editor) \"$1\"", "sh", path]
        guard let child = try? ProcessStart(arguments, sharesSignals: true).start() else {
            throw BrokerClientError(.unsupported, "The editor cannot be started; set EDITOR.")
        }
        guard exitStatus(of: child) == 0 else {
            throw BrokerClientError(
                .userCanceled, "\(editor.clean) did not end well; nothing has changed. Set EDITOR to another one.")
        }
    }

    private static let template = """
        # Settings of the token broker. All there are, with their values: brokerctl config show
        # Their meaning: docs/configuration.md
        #
        # [log]
        # level = "info"

        """
}
