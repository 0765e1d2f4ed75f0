import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues
import Glibc

struct RunInCommand: Subcommand {
    static var about: About {
        About(
            "run-in", "Run a command that starts a sandbox, with a socket for that sandbox.",
            """
            Opens the socket, sets BROKER_SOCKET to its path and OIDC_SOCK to the path of the one for programs that \
            ask oidc-agent, runs the command, closes the socket and exits with the command's status (128 plus the \
            signal's number, if a signal ended it). The socket ends with this program, however that ends. In the \
            command's arguments, {socket} stands for the path, and {folder} for the folder that holds both sockets and \
            nothing else: mount that folder. Keep your home directory out of the sandbox: it holds the vault and its \
            key. For another machine, use brokerctl ssh.

            Examples:
              brokerctl run-in --engine bubblewrap --id notes --app notes -- bwrap --ro-bind / / --tmpfs "$HOME" --tmpfs /run --ro-bind {folder} {folder} notes
              brokerctl run-in --engine podman --id build --app ci -- podman run -v {folder}:{folder}:ro -e BROKER_SOCKET build-image
            """)
    }

    var global = GlobalOptions()
    var sandbox = SandboxOptions()
    var command: [String] = []

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.group(&sandbox)
        arguments.rest("command", &command, "The command and its arguments, after --.")
    }

    func validate() throws(UsageError) {
        guard !command.isEmpty else { throw UsageError("Name the command to run after --.") }
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        Glibc.exit(try status(in: context))
    }

    private func status(in context: CommandContext) throws(BrokerClientError) -> Int32 {
        var params = sandbox.params
        // The connection ends with this program, even if it is killed.
        params.isWhileConnected = true
        let opened = try OpenSandbox.Result.decoded(try context.answer(to: OpenSandbox.self, params))
        // From here on, a signal ends the command, and then the socket.
        ForegroundProcess.takeSignals()
        // Fails if the broker is gone or the lifetime is over, and the socket already closed.
        defer { _ = try? context.connection.call(CloseSandbox.self, .init(handle: opened.handle)) }
        let words = command.map {
            $0.replacing(text: "{socket}", with: opened.path).replacing(text: "{folder}", with: opened.path.folder)
        }
        for (name, path) in DoorVariables.all(socket: opened.path, opened.doors ?? []) { setenv(name, path, 1) }
        return try ForegroundProcess.run(words)
    }
}
