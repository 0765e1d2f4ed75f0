import BrokerLink
import BrokerRPC
import BrokerValues

/// The answer to git. Pure.
package enum GitCredentialAnswer {
    /// Whether a token may go to this host.
    package enum Verdict: Sendable, Equatable {
        case ours
        /// Git asks its next helper.
        case notOurs
        /// Everybody on the way could read it.
        case unencrypted
    }

    /// - Parameter hosts: that the person named, with their ports; none named means that git's configuration says where the
    ///   helper is asked.
    package static func verdict(on request: GitCredentialRequest, hosts: [String]) -> Verdict {
        guard !request.host.isEmpty, request.host == request.host.clean else { return .notOurs }
        guard hosts.isEmpty || hosts.contains(where: { $0.lowercased() == request.host.lowercased() }) else {
            return .notOurs
        }
        switch request.scheme {
        case "https": return .ours
        case "http": return request.isLoopback ? .ours : .unencrypted
        default: return .notOurs
        }
    }

    /// Ends git's search instead of letting it ask for a password, which no one has.
    package static let quit = "quit=1\n"

    package static func text(for request: GitCredentialRequest, _ token: Token) throws(BrokerClientError) -> String {
        try TokenFormat.requireVisible(token.accessToken)
        let expiry = token.expiresOn == TokenEnd.unknown ? "" : "password_expiry_utc=\(token.expiresOn)\n"
        // As a password a token is taken nearly everywhere, and older versions of git know nothing else.
        guard request.takesOtherSchemes, request.offers("bearer"), !request.offers("basic") else {
            return "username=\(username(for: request))\npassword=\(token.accessToken)\n" + expiry
        }
        return "capability[]=authtype\nauthtype=Bearer\ncredential=\(token.accessToken)\nephemeral=1\n" + expiry
    }

    /// Git's own, if it has one; else what the host wants to see beside a token. Many take any.
    private static func username(for request: GitCredentialRequest) -> String {
        if let username = request.username, !username.isEmpty { return username }
        return request.name == "bitbucket.org" ? "x-token-auth" : "oauth2"
    }
}
