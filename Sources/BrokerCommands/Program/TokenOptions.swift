import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues

/// Further options of a token request, silent or interactive.
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
            "resource", &resources, value: "uri", "A resource of the token (RFC 8707); may be repeated.")
        arguments.option(
            "claims", &claims, "A claims request or challenge: JSON, base64, or a file that holds one of them.")
        arguments.option(
            "challenge", &challenge, value: "header",
            "The WWW-Authenticate header of an API that refused a token; what it asks for is added.")
        arguments.list(
            "capability", &capabilities, value: "name", "A client capability, such as cp1; may be repeated.")
        arguments.flag(
            "instance-aware", &instanceAware,
            "Microsoft Entra: the user's home tenant may be in another cloud, whatever the app's registration says.")
        arguments.option(
            "token-type", &tokenType, value: "type",
            "Bearer (if left out), or DPoP for a token that needs a proof for each call (brokerctl proof).")
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

    /// A base64 challenge contains no dot and does not start with a slash, so such a text must be a missing file.
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
    package static let meanings = ["Bearer": "works for whoever has it", "DPoP": "works with a proof for each call"]

    /// Case-insensitive, as in HTTP.
    package init?(argument: String) {
        guard let type = Self.allCases.first(where: { $0.rawValue.lowercased() == argument.lowercased() })
        else { return nil }
        self = type
    }
}
