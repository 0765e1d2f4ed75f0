/// The algorithms that an ID token may be signed with: asymmetric ones only.
///
/// `none` is not in the list, nor is any HMAC: a token "signed" with a public key as the shared secret is therefore
/// impossible (RFC 8725, section 2.1 and 3.1). Signatures with a client's secret are separate: ``SharedSecretSignature``.
enum SignatureAlgorithm: String, CaseIterable, Sendable {
    case rs256 = "RS256"
    case rs384 = "RS384"
    case rs512 = "RS512"
    case ps256 = "PS256"
    case ps384 = "PS384"
    case ps512 = "PS512"
    case es256 = "ES256"
    case es384 = "ES384"
    case es512 = "ES512"
    case edDSA = "EdDSA"

    /// - Parameter name: `alg`. EdDSA has one curve here, for which RFC 9864, section 2.2, has a separate name.
    init?(name: String) { self.init(rawValue: name == "Ed25519" ? "EdDSA" : name) }

    /// `kty` of RFC 7518, section 6.1, and RFC 8037.
    var keyType: String {
        switch self {
        case .rs256, .rs384, .rs512, .ps256, .ps384, .ps512: "RSA"
        case .es256, .es384, .es512: "EC"
        case .edDSA: "OKP"
        }
    }

    /// `crv`, if the algorithm has one of its own (RFC 7518, section 3.4).
    var curve: String? {
        switch self {
        case .es256: "P-256"
        case .es384: "P-384"
        case .es512: "P-521"
        case .edDSA: "Ed25519"
        default: nil
        }
    }

    /// `nil` if the algorithm hashes by itself.
    var digest: MessageDigest? {
        switch self {
        case .rs256, .ps256, .es256: .sha256
        case .rs384, .ps384, .es384: .sha384
        case .rs512, .ps512, .es512: .sha512
        case .edDSA: nil
        }
    }

    /// Whether RSA's padding is PSS (RFC 7518, section 3.5).
    var isPSS: Bool { [.ps256, .ps384, .ps512].contains(self) }
}
