/// A proof for one call (RFC 9449, section 4.2).
package struct IssuedProof: Sendable {
    package var proof: String
    package var keyThumbprint: String

    package init(proof: String, keyThumbprint: String) {
        self.proof = proof
        self.keyThumbprint = keyThumbprint
    }
}
