import BrokerLink
import BrokerRPC
import BrokerValues

struct EnvCommand: Subcommand {
    static var about: About {
        About(
            "env", "Print the variables by which programs find the broker.",
            """
            For a shell to take: BROKER_SOCKET for clients of the broker, and OIDC_SOCK for programs that ask oidc-agent. The broker need not \
            run. OIDC_SOCK is left out where the broker does not listen for such programs.

            Examples:
              eval "$(brokerctl env)"
              brokerctl env | source          # fish
            """)
    }

    static var printsJSON: Bool { false }

    var global = GlobalOptions()

    func run(in context: CommandContext) throws(BrokerClientError) {
        let location = context.connection.location
        let agent = OIDCAgentSocket.path(
            beside: location,
            configured: global.socket == nil ? { Self.setting(of: TargetBroker(nil, at: location)) } : { nil },
            isThere: SocketLocation.isThere)
        let doors = agent.map { [OpenDoor(name: Door.oidcAgent.rawValue, path: $0)] } ?? []
        StandardStream.output.write(DoorVariables.text(socket: location.path, doors))
    }

    /// What the configuration says, as the daemon reads it; nil where it says nothing.
    private static func setting(of broker: TargetBroker) -> String? {
        let report = (try? ConfigurationReport.current(of: broker)) ?? []
        return report.first { $0.name == "doors.oidc_agent_socket" && $0.isSet }?.value
    }
}

/// Where a broker listens for programs that ask oidc-agent.
package enum OIDCAgentSocket {
    private static let name = "oidc-agent.sock"

    /// - Parameter configured: the value of `doors.oidc_agent_socket`; asked only where the usual place is empty.
    /// - Returns: nil where it does not listen.
    package static func path(
        beside location: SocketLocation, configured: () -> String?, isThere: (String) -> Bool
    ) -> String? {
        let usual = location.path.lastIndex(of: "/").map { location.path[...$0] + name } ?? name
        if isThere(usual) { return usual }
        switch configured() {
        case "off": return nil
        case let path?: return path
        // The broker for everybody has one only where it is told to.
        case nil: return location.isEverybodys ? nil : usual
        }
    }
}
