import DevIdentityProvider

/// HMAC with SHA-256 (RFC 2104).
func hs256(of message: [UInt8], key: [UInt8]) -> [UInt8] {
    let size = 64
    let short = key.count > size ? Array(Digest.sha256.of(key)) : key
    let block = short + [UInt8](repeating: 0, count: size - short.count)
    let inner = Digest.sha256.of(block.map { $0 ^ 0x36 } + message)
    return Array(Digest.sha256.of(block.map { $0 ^ 0x5c } + inner))
}
