import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues
import Glibc

struct SSHCommand: Subcommand {
    static var about: About {
        About(
            "ssh", "Log in to another machine by ssh, and let programs there get tokens from here.",
            """
            Runs your ssh with your configuration. A socket for that host alone (the sandbox ssh:HOST) is forwarded to \
            a private folder there, and BROKER_SOCKET names it in the shell or command: brokerctl and every client \
            library find it. OIDC_SOCK names a socket for programs that ask oidc-agent. Both sockets end with the \
            session. Programs there have the apps and rights given here, and so does root there. With --right \
            interactive they may ask you to sign in: the page opens here.

            The arguments are handled as in ssh: joined by blanks, then parsed by your login shell there. The exit \
            status is that of the command, or 255 if ssh itself failed.

            Examples:
              brokerctl ssh --app git devbox
              brokerctl ssh --app notes --right token --right interactive --for 8h alice@devbox
              brokerctl ssh --app ci build1 make -C project publish
            """)
    }

    var global = GlobalOptions()
    var reach = SandboxReach()
    var host = SSHHost()
    var words: [String] = []

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.group(&reach)
        arguments.argument("host", &host, "The destination, as for ssh: a name, user@name, or a host of ~/.ssh/config.")
        arguments.tail("argument", &words, "The command to run there; without one, your login shell.")
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        Glibc.exit(try status(in: context))
    }

    private func status(in context: CommandContext) throws(BrokerClientError) -> Int32 {
        var params = reach.params(of: Sandbox(engine: Sandbox.sshEngine, id: host.text, rights: []))
        // The connection ends with this program, even if it is killed.
        params.isWhileConnected = true
        let opened = try OpenSandbox.Result.decoded(try context.answer(to: OpenSandbox.self, params))
        // From here on, a signal ends ssh, and then the socket.
        ForegroundProcess.takeSignals()
        let login = SSHLogin(
            program: SSHProgram(host: host.text),
            sockets: DoorVariables.all(socket: opened.path, opened.doors ?? []), command: RemoteProgram(words))
        return try login.status {
            // Fails if the broker is gone or the lifetime is over, and the socket already closed.
            _ = try? context.connection.call(CloseSandbox.self, .init(handle: opened.handle))
        }
    }
}

/// A host's name on ssh's command line. ssh passes it to shells (`ProxyCommand`, `Match exec`), before version 9.6 unchecked,
/// so names with characters special to a shell are refused here.
struct SSHHost: ArgumentValue {
    private(set) var text = ""

    init() {}

    init?(argument: String) {
        let isPlain = argument.utf8.allSatisfy { (0x21...0x7e).contains($0) && !"'`\"$\\;&<>|(){}".utf8.contains($0) }
        guard isPlain, (1...128).contains(argument.utf8.count),
            !argument.hasPrefix("-"), !argument.hasPrefix("ssh://-"), !argument.contains("@-")
        else { return nil }
        text = argument
    }
}
