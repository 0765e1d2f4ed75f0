import BrokerModel
import BrokerOIDCAgent
import BrokerValues
import CSodium

/// A client of oidc-agent, made of libsodium alone, without our own code.
struct OtherSide {
    private var publicKey = [UInt8](repeating: 0, count: 32)
    private var secretKey = [UInt8](repeating: 0, count: 32)
    private var shared = [UInt8](repeating: 0, count: 32)

    init() {
        _ = sodium_init()
        crypto_kx_keypair(&publicKey, &secretKey)
    }

    var key: [UInt8] { Array(Base64.encode(publicKey).utf8) }

    /// - Parameter answer: the broker's public key as sent.
    mutating func agree(on answer: [UInt8]) -> Bool {
        guard answer.count == 44, let peer = Base64.decode(answer) else { return false }
        return crypto_box_beforenm(&shared, peer, secretKey) == 0
    }

    /// - Parameter length: the stated length; `nil` for the actual number of bytes.
    func seal(_ text: String, saying length: Int? = nil) -> [UInt8] {
        let plain = Array(text.utf8)
        var nonce = [UInt8](repeating: 0, count: 24)
        randombytes_buf(&nonce, 24)
        var box = [UInt8](repeating: 0, count: plain.count + 16)
        crypto_secretbox_easy(&box, plain, UInt64(plain.count), nonce, shared)
        return Array("\(length ?? plain.count):\(Base64.encode(nonce)):\(Base64.encode(box))".utf8)
    }

    func open(_ frame: [UInt8]) -> String? {
        let parts = frame.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count == 3, let nonce = Base64.decode(parts[1]), nonce.count == 24,
            let box = Base64.decode(parts[2]), box.count >= 16
        else { return nil }
        var plain = [UInt8](repeating: 0, count: box.count - 16)
        guard crypto_secretbox_open_easy(&plain, box, UInt64(box.count), nonce, shared) == 0,
            Array("\(plain.count)".utf8) == Array(parts[0])
        else { return nil }
        return String(decoding: plain, as: UTF8.self)
    }
}

extension AgentExchange {
    /// - Returns: the resulting steps, until it needs more.
    mutating func receive(_ bytes: some Sequence<UInt8>) -> [Step] {
        Array(bytes).withUnsafeBytes { append($0) }
        var steps: [Step] = []
        while true {
            let step = next()
            if case .needsMore = step { return steps }
            steps.append(step)
            if isOver { return steps }
        }
    }

    mutating func receive(_ text: String) -> [Step] { receive(text.utf8) }

    /// As ``receive(_:)``, in pieces.
    mutating func receive(_ bytes: [UInt8], inPiecesOf size: Int) -> [Step] {
        stride(from: 0, to: bytes.count, by: size).flatMap { receive(bytes[$0..<min($0 + size, bytes.count)]) }
    }
}

extension AgentExchange.Step {
    var request: AgentRequest? { if case .ask(let request) = self { request } else { nil } }
    var refusal: AgentRefusal? { if case .refuse(let refusal) = self { refusal } else { nil } }
    var written: [UInt8]? { if case .write(let bytes) = self { bytes } else { nil } }
}
