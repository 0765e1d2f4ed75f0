import BrokerRPC
import BrokerValues

/// The description of a token without the token itself, for a screen that others may see.
package enum TokenText {
    private static let secrets: Set<String> = ["accessToken", "idToken", "authorizationHeader"]

    package static func facts(_ token: Token, now: NumericDate) -> Facts {
        var facts = Facts()
        facts.add("Account", AccountText.who(token.account))
        facts.add("Scopes", token.scopes.joined(separator: " "))
        let end = token.expiresOn == TokenEnd.unknown ? "not known" : TimeText.relative(token.expiresOn, to: now)
        facts.add("Expires", end)
        facts.add("Type", token.tokenType.rawValue)
        facts.add("Authority", token.authority)
        facts.add("Got from", token.fromCache ? "the broker's cache" : "the provider, just now")
        if token.extendedLifetime { facts.add("Note", "past its expiry; the provider is down") }
        return facts
    }

    /// The broker's result without its secrets.
    package static func withoutSecrets(_ node: JSONNode) -> JSONNode {
        guard case .object(let members) = node else { return node }
        return .object(members.filter { !secrets.contains($0.name) })
    }
}
