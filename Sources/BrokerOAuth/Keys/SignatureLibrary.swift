import BrokerModel
import CSignatures

/// The parts of OpenSSL that the broker depends on. Its configuration (config(5ssl)) may disable some of them.
package enum SignatureLibrary {
    package struct Unusable: Error, Sendable, Equatable, CustomStringConvertible {
        let lacking: String

        package var description: String {
            "OpenSSL has no \(lacking) here. Check its configuration, usually /etc/ssl/openssl.cnf."
        }
    }

    /// Must be called before anything is signed or verified.
    package static func check() throws(Unusable) {
        for digest in [MessageDigest.sha256, .sha384, .sha512] where !digest.isThere {
            throw Unusable(lacking: digest.rawValue)
        }
        guard let pair = P256KeyPair(Secret(String(repeating: "1", count: 32))), pair.signature(of: []) != nil else {
            throw Unusable(lacking: "P-256")
        }
    }
}
