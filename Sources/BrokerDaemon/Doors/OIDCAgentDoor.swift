import BrokerConfig

/// The socket for programs that ask oidc-agent.
package enum OIDCAgentDoor {
    /// `FileDescriptorName=` of brokerd-oidc-agent.socket.
    static let activationName = "brokerd-oidc-agent.socket"
    private static let fileName = "oidc-agent.sock"

    /// - Parameter socket: the broker's own.
    /// - Returns: nil where the door stays shut.
    package static func path(_ configuration: BrokerConfiguration, beside socket: String) -> String? {
        switch configuration.doors.oidcAgentSocket {
        case BrokerConfiguration.Doors.off: return nil
        case let path?: return path
        case nil:
            guard !configuration.isSystemMode, let slash = socket.lastIndex(of: "/") else { return nil }
            return socket[...slash] + fileName
        }
    }
}
