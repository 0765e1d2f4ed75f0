import BrokerOIDCAgent
import BrokerRPC
import BrokerSocket
import BrokerValues

/// oidc-agent's socket: programs written for oidc-agent ask here, one request per connection.
package struct OIDCAgentFront: Front {
    package let door = Door.oidcAgent
    private let service: RequestService
    package let hasNotifications = false
    private let names: AppAliases
    private let isShut: Bool

    /// - Parameters:
    ///   - names: the programs' names for apps.
    ///   - isShut: whether every client is answered that the door is off: needed while another process holds the socket.
    package init(_ service: RequestService, names: AppAliases, isShut: Bool = false) {
        (self.service, self.names, self.isShut) = (service, names, isShut)
    }

    package func converse() -> any Conversation { OIDCAgentConversation(service, names, isShut: isShut) }

    package func refusal(_ error: BrokerError) -> [UInt8] { Self.refusal(error) }

    /// For a refused client: no keys were exchanged with it.
    package static func refusal(_ error: BrokerError) -> [UInt8] { refusal(AgentFailure(error, app: nil)) }

    package func refusal(_ reason: ConnectionRefusal) -> [UInt8] {
        switch reason {
        case .lineTooLong: Self.refusal(AgentRefusal.tooLong(limit: AgentExchange.limit).failure)
        case .lineCutOff: Self.refusal(AgentRefusal.cutOff.failure)
        case .lineStalled: Self.refusal(AgentRefusal.stalled.failure)
        default: refusal(BrokerError(reason))
        }
    }

    private static func refusal(_ failure: AgentFailure) -> [UInt8] { AgentExchange().answer(failure) }
}
