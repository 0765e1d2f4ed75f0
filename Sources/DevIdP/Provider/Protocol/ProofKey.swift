import FoundationEssentials

/// Proof Key for Code Exchange (RFC 7636), with S256 only.
enum ProofKey {
    /// Base64url of a SHA-256 digest: 43 characters.
    static func isChallenge(_ text: String) -> Bool { text.utf8.count == 43 && text.utf8.allSatisfy(isUnreserved) }

    /// 43 to 128 unreserved characters (section 4.1).
    static func isVerifier(_ text: String) -> Bool {
        (43...128).contains(text.utf8.count) && text.utf8.allSatisfy(isUnreserved)
    }

    package static func challenge(for verifier: String) -> String {
        Digest.sha256.of(verifier.utf8).base64URLText
    }

    static func matches(verifier: String, challenge: String) -> Bool {
        isVerifier(verifier) && equalInConstantTime(self.challenge(for: verifier), challenge)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}

/// Compares digests, so that the duration does not reveal where two secrets differ.
func equalInConstantTime(_ one: String, _ other: String) -> Bool {
    Digest.sha256.of(one.utf8) == Digest.sha256.of(other.utf8)
}
