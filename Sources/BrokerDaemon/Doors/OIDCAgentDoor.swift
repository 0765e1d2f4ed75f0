import BrokerConfig
import BrokerHost
import BrokerServer
import BrokerSocket
import Logging

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

    /// - Parameters:
    ///   - path: from ``path(_:beside:)``.
    ///   - handed: the socket that systemd passed in for it. Where the door is to be shut, who comes there is told so.
    ///   - main: its limits hold for the connections of all doors together.
    /// - Returns: nil where nobody listens.
    /// - Throws: when a place that somebody named cannot be had.
    static func open(
        at path: String?, handed: ActivatedSocket?, _ configuration: BrokerConfiguration, beside main: LineListener,
        _ front: (_ isShut: Bool) -> OIDCAgentFront, _ services: ServerServices, _ logger: Logger
    ) async throws(SocketError) -> LineListener? {
        guard path != nil || handed != nil else { return nil }
        let front = front(path == nil)
        do throws(SocketError) {
            let socket = try socket(at: path, handed, configuration)
            let listener = try await main.startAnother(socket, service: BrokerService(front))
            if let path { services.doors.add(front.door, at: handed?.path ?? path) }
            return listener
        } catch {
            guard configuration.doors.oidcAgentSocket == nil else { throw error }
            logger.warning(
                "the broker does not listen for programs that ask oidc-agent", metadata: ["cause": "\(error)"])
            return nil
        }
    }

    private static func socket(
        at path: String?, _ handed: ActivatedSocket?, _ configuration: BrokerConfiguration
    ) throws(SocketError) -> ListeningSocket {
        if let handed { return try .inherited(handed.descriptor) }
        return try .bind(
            SocketPlace(path: path ?? "", audience: configuration.isSystemMode ? .everybody : .owner))
    }
}
