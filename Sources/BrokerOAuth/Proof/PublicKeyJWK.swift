import BrokerModel
import Crypto

/// The public half of a P-256 key as a JSON Web Key (RFC 7517; RFC 7518, section 6.2.1).
struct PublicKeyJWK {
    let x: String
    let y: String

    init(_ key: P256.Signing.PublicKey) {
        let point = key.rawRepresentation
        x = Base64URL.encode(point.prefix(32))
        y = Base64URL.encode(point.suffix(32))
    }

    /// The members in the order that RFC 7638 hashes; they hold nothing that JSON would escape.
    var text: String { #"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"# }

    /// RFC 7638, section 3, with SHA-256.
    var thumbprint: String { Base64URL.encode(SHA256.hash(data: Array(text.utf8))) }
}
