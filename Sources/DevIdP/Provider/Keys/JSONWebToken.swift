import FoundationEssentials

/// A signed token in compact serialization (RFC 7515, section 7.1).
struct JSONWebToken {
    private let header: Data
    private let payload: Data
    private let signature: Data
    /// The first two parts as they arrived.
    private let signed: Data

    /// - Returns: `nil` unless the text has three parts in base64url.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Data(base64URLText: parts[0]), let payload = Data(base64URLText: parts[1]),
            let signature = Data(base64URLText: parts[2])
        else { return nil }
        self.header = header
        self.payload = payload
        self.signature = signature
        signed = Data("\(parts[0]).\(parts[1])".utf8)
    }

    func header<Header: Decodable>(as type: Header.Type) -> Header? {
        try? JSONDecoder().decode(type, from: header)
    }

    /// Nothing in them is checked.
    func claims<Claims: Decodable>(as type: Claims.Type) -> Claims? {
        try? JSONDecoder().decode(type, from: payload)
    }

    func isSigned(by key: ProviderKey) -> Bool { key.verifies(signature, of: signed) }

    /// - Returns: a new token.
    static func sign(_ claims: [String: JSON], header: [String: JSON], by key: ProviderKey) throws -> String {
        let parts = [try jsonText(header), try jsonText(claims)].map { Data($0.utf8).base64URLText }
        let signed = parts.joined(separator: ".")
        return "\(signed).\(try key.signature(of: signed.utf8).base64URLText)"
    }
}

/// `at_hash` of OpenID Connect Core, section 3.1.3.6, for the SHA-256 algorithms.
func accessTokenHash(_ token: String) -> String { Digest.sha256.of(token.utf8).prefix(16).base64URLText }
