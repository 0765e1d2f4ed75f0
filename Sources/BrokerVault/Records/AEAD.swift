import BrokerModel
import CSodium

/// XChaCha20-Poly1305 (IETF) with a random nonce before the ciphertext; 192 bits of nonce never collide by chance.
enum AEAD {
    static let nonceCount = Int(crypto_aead_xchacha20poly1305_ietf_NPUBBYTES)
    static let overhead = nonceCount + Int(crypto_aead_xchacha20poly1305_ietf_ABYTES)

    static func seal(_ plaintext: UnsafeRawBufferPointer, under key: Secret, binding context: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: plaintext.count + overhead) { box, count in
            guard let nonce = box.baseAddress else { return }
            randombytes_buf(nonce, nonceCount)
            var written: UInt64 = 0
            key.withBytes { key in
                _ = crypto_aead_xchacha20poly1305_ietf_encrypt(
                    nonce + nonceCount, &written, plaintext.octets,
                    UInt64(plaintext.count), context, UInt64(context.count), nil, nonce,
                    key.octets)
            }
            count = nonceCount + Int(written)
        }
    }

    /// - Parameter plaintext: exactly ``overhead`` bytes shorter than the box; unchanged if the box is not genuine.
    static func open(
        _ box: [UInt8], under key: Secret, binding context: [UInt8], into plaintext: UnsafeMutableRawBufferPointer
    ) -> Bool {
        guard box.count >= overhead, plaintext.count == box.count - overhead else { return false }
        return box.withUnsafeBufferPointer { box in
            key.withBytes { key in
                guard let nonce = box.baseAddress else { return false }
                return crypto_aead_xchacha20poly1305_ietf_decrypt(
                    plaintext.octets, nil, nil, nonce + nonceCount,
                    UInt64(box.count - nonceCount), context, UInt64(context.count), nonce,
                    key.octets) == 0
            }
        }
    }
}

/// Keyed BLAKE2b, 256 bits.
func keyedHash(_ bytes: [UInt8], key: Secret) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    key.withBytes { key in
        _ = crypto_generichash(&digest, digest.count, bytes, UInt64(bytes.count), key.octets, key.count)
    }
    return digest
}

/// The same hash as a key: the digest is never in unguarded memory.
func keyedSecret(_ bytes: [UInt8], key: Secret) -> Secret {
    Secret(count: keyByteCount, isKept: true) { digest in
        key.withBytes { key in
            _ = crypto_generichash(digest.octets, digest.count, bytes, UInt64(bytes.count), key.octets, key.count)
        }
    }
}

extension Secret {
    /// BLAKE2b, 256 bits, for a secret of any length.
    func hashed() -> Secret {
        Secret(count: keyByteCount, isKept: true) { digest in
            withBytes { bytes in
                _ = crypto_generichash(digest.octets, digest.count, bytes.octets, UInt64(bytes.count), nil, 0)
            }
        }
    }
}
