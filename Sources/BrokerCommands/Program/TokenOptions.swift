import ArgumentParser
import BrokerClient
import BrokerRPC
import BrokerValues
import FoundationEssentials

/// What else may be demanded of a token, silently or not.
struct TokenOptions: ParsableArguments {
    @Option(
        name: .customLong("resource"),
        help: ArgumentHelp("Where the token must be good (RFC 8707); may be repeated.", valueName: "uri"))
    var resources: [String] = []

    @Option(
        help: ArgumentHelp(
            "A claims request or challenge: JSON, base64, or a file that holds one of them.", valueName: "claims"))
    var claims: String?

    @Option(
        name: .customLong("capability"),
        help: ArgumentHelp("What the app can deal with, such as cp1; may be repeated.", valueName: "name"))
    var capabilities: [String] = []

    @Flag(help: "Microsoft Entra: the person may be at home in another cloud, whatever the app's registration says.")
    var instanceAware = false

    @Option(
        name: .customLong("token-type"),
        help: ArgumentHelp(
            "Bearer, or DPoP for a token that each call needs a proof for (brokerctl proof).", valueName: "type"))
    var tokenType = TokenType.bearer

    @Option(
        name: .customLong("correlation-id"),
        help: ArgumentHelp("Names the request in the logs of broker and provider.", valueName: "id"))
    var correlationID: String?

    func fill(_ params: inout some TokenParams) throws(BrokerClientError) {
        params.resources = resources
        params.claims = try claims.map { claims throws(BrokerClientError) in try Self.text(of: claims) }
        params.clientCapabilities = capabilities
        params.tokenType = tokenType
        params.correlationId = correlationID
        if instanceAware { params.instanceAware = true }
    }

    /// A challenge in base64 has no dot and no slash at its start, so a missing file is an error.
    private static func text(of claims: String) throws(BrokerClientError) -> String {
        if claims.trimmed.hasPrefix("{") { return claims }
        if let file = FileManager.default.contents(atPath: claims) {
            return String(decoding: file, as: UTF8.self).trimmed
        }
        guard !claims.hasPrefix("/"), !claims.contains(".") else {
            throw BrokerClientError(.invalidParameter, "There is no file \(claims); give --claims JSON or a file.")
        }
        return claims
    }
}

extension TokenType: ExpressibleByArgument {
    /// In any case of letters, as HTTP takes it.
    package init?(argument: String) {
        guard let type = Self.allCases.first(where: { $0.rawValue.lowercased() == argument.lowercased() })
        else { return nil }
        self = type
    }
}
