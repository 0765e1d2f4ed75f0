import BrokerModel
import CSodium

/// Seals the messages of one connection: crypto_secretbox_easy under the key that crypto_box_beforenm makes of both sides' keys.
///
/// The clients require it. It protects no message from a process that can read the socket, as neither side is authenticated.
package struct AgentSeal: Sendable {
    package static let nonceCount = Int(crypto_secretbox_NONCEBYTES)
    package static let keyCount = Int(crypto_kx_PUBLICKEYBYTES)
    /// The difference in length between a box and its contents.
    package static let overhead = Int(crypto_secretbox_MACBYTES)

    private let key: Secret

    /// Creates the seal; `nil` for a key that yields no secret, such as zero.
    package init?(with peer: [UInt8], _ own: AgentKeyPair) {
        guard peer.count == Self.keyCount else { return nil }
        var isGood = false
        key = Secret(count: Int(crypto_box_BEFORENMBYTES)) { key in
            own.secretKey.withBytes { secret in
                guard let key = key.bindMemory(to: UInt8.self).baseAddress,
                    let secret = secret.bindMemory(to: UInt8.self).baseAddress
                else { return }
                isGood = crypto_box_beforenm(key, peer, secret) == 0
            }
        }
        guard isGood else { return nil }
    }

    /// Opens a box.
    ///
    /// - Returns: its contents, which may include a passphrase; `nil` if the box is not genuine.
    package func open(_ box: [UInt8], nonce: [UInt8]) -> Secret? {
        guard box.count >= Self.overhead, nonce.count == Self.nonceCount else { return nil }
        var isGenuine = false
        let text = Secret(count: box.count - Self.overhead) { text in
            key.withBytes { key in
                guard let key = key.bindMemory(to: UInt8.self).baseAddress else { return }
                isGenuine =
                    crypto_secretbox_open_easy(
                        text.bindMemory(to: UInt8.self).baseAddress, box, UInt64(box.count), nonce, key) == 0
            }
        }
        return isGenuine ? text : nil
    }

    /// Seals a text, as `length:nonce:box`.
    package func seal(_ text: [UInt8]) -> [UInt8] {
        let nonce = [UInt8](unsafeUninitializedCapacity: Self.nonceCount) { nonce, count in
            guard let start = nonce.baseAddress else { return }
            randombytes_buf(start, Self.nonceCount)
            count = Self.nonceCount
        }
        let box = [UInt8](unsafeUninitializedCapacity: text.count + Self.overhead) { box, count in
            guard let start = box.baseAddress else { return }
            key.withBytes { key in
                guard let key = key.bindMemory(to: UInt8.self).baseAddress else { return }
                _ = crypto_secretbox_easy(start, text, UInt64(text.count), nonce, key)
            }
            count = text.count + Self.overhead
        }
        return Array("\(text.count):\(Base64.encode(nonce)):\(Base64.encode(box))".utf8)
    }
}
