import BrokerConfig
import BrokerServer
import BrokerValues

/// The sockets for programs that use oidc-agent.
package struct OIDCAgentDoor: SocketDoor {
    package static let activationName = "brokerd-oidc-agent.socket"
    package static let fileName = "oidc-agent.sock"
    private let names: AppAliases

    package init(_ configuration: BrokerConfiguration) { names = AppAliases(configuration.doors.oidcAgentAccounts) }

    package static func setting(in configuration: BrokerConfiguration) -> String? {
        configuration.doors.oidcAgentSocket
    }

    package static func refusal(_ error: BrokerError) -> [UInt8] { OIDCAgentFront.refusal(error) }

    package func front(_ requests: RequestService, isShut: Bool) -> any Front {
        OIDCAgentFront(requests, names: names, isShut: isShut)
    }

    package func apply(_ configuration: BrokerConfiguration) { names.apply(configuration.doors.oidcAgentAccounts) }
}
