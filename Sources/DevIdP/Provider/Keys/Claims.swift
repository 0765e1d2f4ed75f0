import FoundationEssentials

/// The claims of an ID token (OpenID Connect Core, section 2) or an access token (RFC 9068, section 2.2).
struct ClaimSet: Codable {
    var members: [String: JSON]

    init(_ members: [String: JSON]) { self.members = members }

    init(from decoder: any Decoder) throws { members = try decoder.singleValueContainer().decode([String: JSON].self) }

    func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        try value.encode(members)
    }

    subscript(name: String) -> JSON? {
        get { members[name] }
        set { members[name] = newValue }
    }
}

/// `at_hash` of OpenID Connect Core, section 3.1.3.6, for the SHA-256 algorithms.
func accessTokenHash(_ token: String) -> String { Digest.sha256.of(token.utf8).prefix(16).base64URLText }
