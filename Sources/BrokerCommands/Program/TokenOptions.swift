import BrokerLink
import BrokerRPC
import BrokerValues

/// What else may be demanded of a token, silently or not.
struct TokenOptions: ArgumentGroup {
    var resources: [String] = []
    var claims: String?
    var challenge: String?
    var capabilities: [String] = []
    var instanceAware = false
    var tokenType = TokenType.bearer
    var correlationID: String?

    mutating func declare(in arguments: inout Arguments) {
        arguments.list(
            "resource", &resources, value: "uri", "Where the token must be good (RFC 8707); may be repeated.")
        arguments.option(
            "claims", &claims, "A claims request or challenge: JSON, base64, or a file that holds one of them.")
        arguments.option(
            "challenge", &challenge, value: "header",
            "The WWW-Authenticate header of an API that refused a token; what it asks for is added.")
        arguments.list(
            "capability", &capabilities, value: "name", "What the app can deal with, such as cp1; may be repeated.")
        arguments.flag(
            "instance-aware", &instanceAware,
            "Microsoft Entra: the person may be at home in another cloud, whatever the app's registration says.")
        arguments.option(
            "token-type", &tokenType, value: "type",
            "Bearer (if left out), or DPoP for a token that each call needs a proof for (brokerctl proof).")
        arguments.option(
            "correlation-id", &correlationID, value: "id", "Names the request in the logs of broker and provider.")
    }

    func fill(_ params: inout some TokenParams) throws(BrokerClientError) {
        params.query.resources = resources
        params.query.claims = try claims.map { claims throws(BrokerClientError) in try Self.text(of: claims) }
        params.query.challenge = challenge.map(ResourceChallenge.init(unread:))
        params.query.clientCapabilities = capabilities
        params.query.tokenType = tokenType
        params.correlationId = correlationID
        if instanceAware { params.query.instanceAware = true }
    }

    /// A challenge in base64 has no dot and no slash at its start, so a missing file is an error.
    private static func text(of claims: String) throws(BrokerClientError) -> String {
        if claims.trimmed.hasPrefix("{") { return claims }
        if let file = contents(of: claims) {
            return String(decoding: file, as: UTF8.self).trimmed
        }
        guard !claims.hasPrefix("/"), !claims.contains(".") else {
            throw BrokerClientError(.invalidParameter, "There is no file \(claims); give --claims JSON or a file.")
        }
        return claims
    }
}

extension TokenType: ArgumentValue {
    package static let meanings = ["Bearer": "good for whoever has it", "DPoP": "good with a proof for each call"]

    /// In any case of letters, as HTTP takes it.
    package init?(argument: String) {
        guard let type = Self.allCases.first(where: { $0.rawValue.lowercased() == argument.lowercased() })
        else { return nil }
        self = type
    }
}
