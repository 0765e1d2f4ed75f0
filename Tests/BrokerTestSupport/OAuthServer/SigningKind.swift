import BrokerModel
import BrokerValues
import DevIdentityProvider

/// The parts of an algorithm's name (RFC 7518, section 3.1; RFC 8037, section 3.1).
extension SigningIdentity.Kind {
    var keyKind: ProviderKey.Kind {
        switch self {
        case .rs256, .rs384, .rs512, .ps256, .ps384, .ps512: .rsa
        case .es256: .p256
        case .es384: .p384
        case .es512: .p521
        case .edDSA: .ed25519
        }
    }

    var digest: Digest? {
        switch self {
        case .rs256, .ps256, .es256: .sha256
        case .rs384, .ps384, .es384: .sha384
        case .rs512, .ps512, .es512: .sha512
        case .edDSA: nil
        }
    }

    var isPSS: Bool { [.ps256, .ps384, .ps512].contains(self) }

    /// The members of a public JWK that describe the key itself.
    func description(of key: ProviderKey) -> JSONObject {
        func number(_ member: ProviderKey.Member) -> JSONValue { .string(Base64URL.encode(key.number(member))) }
        return switch keyKind {
        case .rsa: ["kty": "RSA", "n": number(.n), "e": number(.e)]
        case .p256, .p384, .p521:
            ["kty": "EC", "crv": .string(keyKind.rawValue), "x": number(.x), "y": number(.y)]
        case .ed25519: ["kty": "OKP", "crv": "Ed25519", "x": number(.x)]
        }
    }
}
