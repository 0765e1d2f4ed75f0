import BrokerLink
import BrokerRPC
import BrokerValues

struct EnvCommand: Subcommand {
    static var about: About {
        About(
            "env", "Print the environment variables with which programs find the broker.",
            """
            Prints shell commands to evaluate: BROKER_SOCKET is for clients of the broker, OIDC_SOCK for programs that \
            ask oidc-agent. The broker need not run; OIDC_SOCK is then the configured path. It is left out if the \
            broker does not listen for such programs.

            Examples:
              eval "$(brokerctl env)"
              brokerctl env | source          # fish
            """)
    }

    static var printsJSON: Bool { false }

    var global = GlobalOptions()
    var answerTimeout: Duration? { .seconds(2) }

    func run(in context: CommandContext) throws(BrokerClientError) {
        let location = SocketLocation(path: context.connection.location.absolutePath)
        let usual = OIDCAgentSocket.usual(beside: location)
        let found = SocketLocation.isThere(usual) ? usual : nil
        let doors: [OpenDoor]
        // A broker at another place is asked: a file beside its socket may be another broker's, or left by an earlier one. The
        // person's own is not started for this, and one that hangs does not delay each new shell.
        if !location.isUsual || location.isEverybodys, SocketLocation.isThere(location.path),
            let status = try? context.connection.call(GetBrokerStatus.self, .init())
        {
            // The status names no paths to a sandbox, whose own sockets are all in one folder.
            doors = status.doors ?? Self.doors(at: found)
        } else {
            let setting = global.socket == nil ? Self.setting(of: TargetBroker(nil, at: location)) : nil
            doors = Self.doors(at: OIDCAgentSocket.expected(beside: location, configured: setting ?? found))
        }
        StandardStream.output.write(DoorVariables.text(socket: location.path, doors))
    }

    private static func doors(at path: String?) -> [OpenDoor] {
        path.map { [OpenDoor(name: Door.oidcAgent.rawValue, path: $0)] } ?? []
    }

    /// The setting as the daemon reads it; `nil` if not set.
    private static func setting(of broker: TargetBroker) -> String? {
        let report = (try? ConfigurationReport.current(of: broker)) ?? []
        return report.first { $0.name == "doors.oidc_agent_socket" && $0.isSet }?.value
    }
}

/// The path where a broker listens for programs that use oidc-agent.
package enum OIDCAgentSocket {
    private static let name = "oidc-agent.sock"

    /// The default path of a user's own broker; systemd's units listen there.
    package static func usual(beside location: SocketLocation) -> String {
        location.path.lastIndex(of: "/").map { location.path[...$0] + name } ?? name
    }

    /// The path of a broker that does not run.
    ///
    /// - Parameter configured: the value of `doors.oidc_agent_socket`, or else the path of a socket that is there.
    /// - Returns: `nil` if it will not listen.
    package static func expected(beside location: SocketLocation, configured: String?) -> String? {
        switch configured {
        case "off": nil
        case let path?: path
        // A system broker has one only if configured.
        case nil: location.isEverybodys ? nil : usual(beside: location)
        }
    }
}
