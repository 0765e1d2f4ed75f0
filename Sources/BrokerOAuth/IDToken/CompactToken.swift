import BrokerModel
import BrokerValues

/// A JWS in compact serialization (RFC 7515, section 3.1 and 7.1), parsed and not yet verified.
struct CompactToken {
    let header: JSONObject
    let claims: JSONObject
    let signature: [UInt8]
    /// The bytes that the signature covers.
    let signed: [UInt8]

    /// The limit in bytes; a response is no larger. A user in thousands of groups has an ID token of more than 100 KB.
    static let longest = 1 << 20

    /// - Returns: `nil` unless it is three parts of base64url, the first two of them JSON objects without duplicate members.
    init?(_ token: Secret) {
        guard token.count <= Self.longest else { return nil }
        let bytes = token.withBytes { Array($0) }
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3,
            let header = Base64URL.decode(parts[0]).flatMap(Self.object),
            let claims = Base64URL.decode(parts[1]).flatMap(Self.object),
            let signature = Base64URL.decode(parts[2])
        else { return nil }
        self.header = header
        self.claims = claims
        self.signature = signature
        signed = Array(bytes[..<parts[1].endIndex])
    }

    /// Parsers differ in which of two members of the same name counts, so a token with duplicates is refused (RFC 7515,
    /// section 4; RFC 7519, section 4).
    private static func object(_ text: [UInt8]) -> JSONObject? {
        (try? JSONReader.read(text, names: .areUnique))?.value.objectValue
    }

    var keyID: ExactText? { header["kid"]?.exactText }
    var algorithmName: String? { header["alg"]?.stringValue }
    /// Extensions that must be understood (RFC 7515, section 4.1.11); the broker understands none.
    var hasCriticalExtensions: Bool { header["crit"] != nil }
    /// A token that says it is of another kind (RFC 8725, section 3.11), such as `at+jwt` or `logout+jwt`.
    var hasOtherType: Bool { header["typ"]?.stringValue?.lowercased().hasSuffix("+jwt") ?? false }
}
