import BrokerModel

/// The public half of a P-256 key as a JSON Web Key (RFC 7517; RFC 7518, section 6.2.1).
struct PublicKeyJWK {
    let x: String
    let y: String

    /// - Parameter x: 32 bytes, like `y`.
    init(x: some Sequence<UInt8>, y: some Sequence<UInt8>) {
        self.x = Base64URL.encode(x)
        self.y = Base64URL.encode(y)
    }

    /// The members in the order that RFC 7638 hashes; JSON would escape nothing in them.
    var text: String { #"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"# }

    /// RFC 7638, section 3, with SHA-256.
    var thumbprint: String { Base64URL.encode(MessageDigest.sha256.of(Array(text.utf8))) }
}
