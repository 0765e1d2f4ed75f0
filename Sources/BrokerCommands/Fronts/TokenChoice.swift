import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues

/// The kind of token that another program gets.
package enum TokenChoice: String, CaseIterable, Sendable, ArgumentValue {
    case id, access

    package static let meanings = ["id": "for a program that asks who you are", "access": "for an API"]

    /// A token and its expiry.
    package struct Credential: Sendable, Equatable {
        package var token: String
        package var expiresOn: NumericDate
    }

    /// Requests a valid token.
    func credential(
        _ asking: SilentTokenRequest, on connection: DirectConnection
    ) throws(BrokerClientError) -> Credential {
        var asking = asking
        asking.params.query.lifetimeOf = self == .id ? .idToken : .accessToken
        return try credential(of: try Token.decoded(try asking.send(on: connection)))
    }

    /// - Throws: ``BrokerClientError/Code/unsupported`` if the provider gave no ID token.
    private func credential(of token: Token) throws(BrokerClientError) -> Credential {
        switch self {
        case .access:
            try TokenFormat.requireVisible(token.accessToken)
            return Credential(token: token.accessToken, expiresOn: token.expiresOn)
        case .id:
            guard let idToken = token.idToken else {
                throw BrokerClientError(
                    .unsupported, "The provider gave no ID token for this app; --token access gives the access token.")
            }
            try TokenFormat.requireVisible(idToken)
            return Credential(token: idToken, expiresOn: token.expiresOn)
        }
    }
}
