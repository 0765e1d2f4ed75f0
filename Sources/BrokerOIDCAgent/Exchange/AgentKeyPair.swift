import BrokerModel
import CSodium

/// The broker's half of a key exchange (crypto_kx_keypair of libsodium), for one connection.
package struct AgentKeyPair: Sendable {
    package let publicKey: [UInt8]
    package let secretKey: Secret

    package init(publicKey: [UInt8], secretKey: Secret) {
        (self.publicKey, self.secretKey) = (publicKey, secretKey)
    }

    /// Creates a new pair.
    package static func random() -> AgentKeyPair {
        var publicKey = [UInt8](repeating: 0, count: Int(crypto_kx_PUBLICKEYBYTES))
        let secretKey = Secret(count: Int(crypto_kx_SECRETKEYBYTES)) { secret in
            guard let secret = secret.bindMemory(to: UInt8.self).baseAddress else { return }
            _ = crypto_kx_keypair(&publicKey, secret)
        }
        return AgentKeyPair(publicKey: publicKey, secretKey: secretKey)
    }
}
