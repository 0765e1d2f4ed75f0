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
            Opens a copy with $VISUAL or $EDITOR. The copy replaces the file if the daemon finds no new mistake in it; \
            otherwise you can fix it. If one broker serves the whole machine, the file belongs to root.

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
                        .userCanceled, "\(file.path) was changed while you edited, and was not overwritten.")
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
        // Ctrl-C in the editor does not end the shell around it. The editor itself has the signal as usual.
        let arguments = ["/bin/sh", "-c", "trap : INT QUIT; \(editor) \"$1\"", "sh", path]
        let status: Int32
        do throws(BrokerClientError) {
            status = try ForegroundProcess.outlivingInterrupts { () throws(BrokerClientError) in
                exitStatus(of: try ForegroundProcess.start(arguments))
            }
        } catch {
            throw BrokerClientError(.unsupported, "The editor cannot be started; set EDITOR.", cause: error)
        }
        guard status == 0 else {
            throw BrokerClientError(
                .userCanceled, "\(editor.clean) failed; nothing has changed. Set EDITOR to another editor.")
        }
    }

    private static let template = """
        # Settings of the token broker. To list all of them with their values: brokerctl config show
        # Their meaning: docs/configuration.md
        #
        # [log]
        # level = "info"

        """
}
