import Synchronization

/// The last nonce that each endpoint gave for proofs (RFC 9449, section 8.2). Issuers that share a host have separate
/// nonces, and a resource's nonces are separate from the token endpoint's (section 9).
final class NonceMemory: Sendable {
    private struct State {
        var nonces: [String: String] = [:]
        /// The oldest first.
        var endpoints: [String] = []
    }

    private static let capacity = 128
    private let state = Mutex(State())

    subscript(endpoint: String) -> String? { state.withLock { $0.nonces[endpoint] } }

    /// - Parameter nonce: ignored if it does not have the form of a nonce (section 8.1) or is too long to be sent back.
    func remember(_ nonce: String, from endpoint: String) {
        guard Self.isNonce(nonce) else { return }
        state.withLock { state in
            if state.nonces.updateValue(nonce, forKey: endpoint) == nil { state.endpoints.append(endpoint) }
            if state.endpoints.count > Self.capacity { state.nonces[state.endpoints.removeFirst()] = nil }
        }
    }

    static func isNonce(_ text: String) -> Bool {
        (1...1024).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
            }
    }
}
