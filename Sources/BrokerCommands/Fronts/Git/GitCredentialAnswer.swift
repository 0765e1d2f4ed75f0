import BrokerCommandLine
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
        /// Anyone on the network path could read it.
        case unencrypted
    }

    /// - Parameter hosts: the hosts on the command line, with their ports; if empty, git's configuration decides for which
    ///   hosts it asks the helper.
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

    /// Stops git from prompting for a password, which does not exist.
    package static let quit = "quit=1\n"

    package static func text(for request: GitCredentialRequest, _ token: Token) throws(BrokerClientError) -> String {
        try TokenFormat.requireVisible(token.accessToken)
        let expiry = token.expiresOn == TokenEnd.unknown ? "" : "password_expiry_utc=\(token.expiresOn)\n"
        // Nearly all servers accept a token as the password, and older versions of git support nothing else.
        guard request.takesOtherSchemes, request.offers("bearer"), !request.offers("basic") else {
            return "username=\(username(for: request))\npassword=\(token.accessToken)\n" + expiry
        }
        return "capability[]=authtype\nauthtype=Bearer\ncredential=\(token.accessToken)\nephemeral=1\n" + expiry
    }

    /// Git's username, if it has one; otherwise the one that the host expects with a token. Many hosts accept any.
    private static func username(for request: GitCredentialRequest) -> String {
        if let username = request.username, !username.isEmpty { return username }
        return request.name == "bitbucket.org" ? "x-token-auth" : "oauth2"
    }
}
