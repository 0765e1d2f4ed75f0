import BrokerCommandLine
import BrokerLink

/// Options that are accepted before and after the subcommand.
struct GlobalOptions: ArgumentGroup {
    var socket: String?
    var json = false

    mutating func declare(in arguments: inout Arguments) {
        arguments.option(
            "socket", &socket, value: "path", "The broker's socket.",
            "Otherwise $BROKER_SOCKET, or brokerd/broker.sock in the runtime directory of your session, or in /run.")
        arguments.flag("json", &json, "Print the broker's own result, or its error, as JSON.")
    }

    var location: SocketLocation { .resolve(path: socket) }

    /// The words before a subcommand that name the same broker.
    var words: [String] { ["brokerctl"] + (socket.map { ["--socket", $0] } ?? []) }
}
