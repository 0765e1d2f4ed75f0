import BrokerLink
import BrokerRPC
import BrokerValues

/// Which of an app's tokens another program gets.
package enum TokenChoice: String, CaseIterable, Sendable, ArgumentValue {
    case id, access

    /// A token and its end.
    package struct Credential: Sendable, Equatable {
        package var token: String
        package var expiresOn: NumericDate
    }

    /// Asks for one that is still good.
    ///
    /// An ID token may end before its access token does. The broker renews both when it is told that the latter is of no use,
    /// and bounds how often.
    func credential(_ asking: SilentAsking, on connection: DirectConnection) throws(BrokerClientError) -> Credential {
        var asking = asking
        let first = try Token.decoded(try asking.send(on: connection))
        let credential = try credential(of: first)
        guard self == .id, credential.expiresOn <= Output.now else { return credential }
        asking.params.rejectedToken = first.accessToken
        let renewed = try self.credential(of: try Token.decoded(try asking.send(on: connection)))
        guard renewed.expiresOn > Output.now else {
            throw BrokerClientError(
                .interactionRequired,
                "The ID token has expired, and the provider renews it only when you sign in. To sign in: "
                    + ShellText.command(asking.login))
        }
        return renewed
    }

    /// - Throws: ``BrokerClientError/Code/unsupported`` when the provider gave no ID token.
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
            // The broker has verified it; what it does not say of its end, nobody knows better than the access token.
            return Credential(token: idToken, expiresOn: Self.expiry(ofJWT: idToken) ?? token.expiresOn)
        }
    }

    /// The claim `exp` (RFC 7519, section 4.1.4).
    private static func expiry(ofJWT token: String) -> NumericDate? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        guard let payload = bytesOfAnyBase64(String(parts[1])), let claims = try? JSONReader.read(payload)
        else { return nil }
        return claims.value.objectValue?["exp"]?.integerValue
    }
}
