import BrokerModel
import BrokerOAuth
import CSignatures

/// The bytes are the claims of an ID token that is signed with the provider's key: what is behind the signature is reached.
func readClaims(_ bytes: UnsafeRawBufferPointer) {
    let token = Secret(signer.token(Array(bytes)))
    var expectation = IDTokenExpectation(clientID: "client", nonce: "nonce")
    expectation.accessToken = Secret("token")
    let expected = expectation
    ProviderReading.wait {
        guard
            let metadata = try? await ProviderReading.provider([ProviderReading.document]).metadata(
                of: ProviderReading.authority)
        else { fatalError("no metadata") }
        let claims = try? await ProviderReading.provider([signer.keys]).verify(
            idToken: token, against: expected, at: metadata)
        precondition(claims != nil || !mustAccept, "a valid seed was refused")
        guard let claims else { return }
        let matches = claims.issuer == "https://provider.example" && !claims.subject.text.isEmpty
        precondition(matches && claims.all["nonce"]?.stringValue == "nonce", "claims of another sign-in")
    }
}

private let signer = Signer()

private struct Signer {
    private let privateKey = [UInt8](repeating: 1, count: 32)
    let keys: [UInt8]

    init() {
        var point = [UInt8](repeating: 0, count: 64)
        broker_key_free(broker_p256_pair(privateKey, &point))
        let (x, y) = (Base64URL.encode(point.prefix(32)), Base64URL.encode(point.suffix(32)))
        keys = Array(#"{"keys":[{"kty":"EC","crv":"P-256","kid":"1","use":"sig","x":"\#(x)","y":"\#(y)"}]}"#.utf8)
    }

    func token(_ claims: [UInt8]) -> String {
        let header = Base64URL.encode(Array(#"{"alg":"ES256","kid":"1","typ":"JWT"}"#.utf8))
        let signed = "\(header).\(Base64URL.encode(claims))"
        var (point, signature) = ([UInt8](repeating: 0, count: 64), [UInt8](repeating: 0, count: 64))
        let pair = broker_p256_pair(privateKey, &point)
        defer { broker_key_free(pair) }
        let isSigned = Array(signed.utf8).withUnsafeBufferPointer {
            broker_es256_sign(pair, broker_octets(bytes: $0.baseAddress, count: $0.count), &signature)
        }
        precondition(isSigned, "no signature")
        return "\(signed).\(Base64URL.encode(signature))"
    }
}
