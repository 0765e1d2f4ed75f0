import DevIdentityProvider
import Foundation

/// A client's key, and DPoP proofs made with it (RFC 9449, section 4.2).
struct ProofMaker {
    private let key: ProviderKey

    init() throws { key = try ProviderKey(.p256) }

    private var jwk: [String: String] {
        ["kty": "EC", "crv": "P-256", "x": encoded(key.number(.x)), "y": encoded(key.number(.y))]
    }

    /// RFC 7638.
    var thumbprint: String {
        let jwk = jwk
        let text =
            "{\"crv\":\"P-256\",\"kty\":\"EC\",\"x\":\"\(jwk["x"] ?? "")\",\"y\":\"\(jwk["y"] ?? "")\"}"
        return encoded(Digest.sha256.of(text.utf8))
    }

    /// - Parameter change: replacements for the correct values.
    func proof(
        _ method: String, _ url: String, nonce: String? = nil, accessToken: String? = nil, change: [String: Any] = [:],
        header: [String: Any] = [:]
    ) throws -> String {
        var payload: [String: Any] = [
            "jti": UUID().uuidString, "htm": method, "htu": url, "iat": Int(Date().timeIntervalSince1970),
        ]
        payload["nonce"] = nonce
        payload["ath"] = accessToken.map { encoded(Digest.sha256.of($0.utf8)) }
        payload.merge(change) { $1 }
        let head = (["typ": "dpop+jwt", "alg": "ES256", "jwk": jwk] as [String: Any]).merging(header) { $1 }
        let parts = try [head, payload].map { encoded(try JSONSerialization.data(withJSONObject: $0)) }
        let text = parts.joined(separator: ".")
        return text + "." + encoded(try key.signature(of: text.utf8))
    }

    private func encoded(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
