import BrokerModel

/// `length:nonce:box`, which arrives in pieces and says nowhere where it ends: the length is wrong as often as a client counts
/// characters for bytes. So it is whole when its box opens.
struct SealedFrame {
    enum Verdict {
        case needsMore
        case opened(Secret)
        case refused(AgentRefusal)
    }

    /// What trying may cost, in bytes looked at, before as many have come as the length says, and in all.
    private static let costBefore = 256 << 10
    private static let cost = 4 << 20
    private static let nonceText = 32
    private static let lengthText = 8

    private var tried = 0

    /// - Parameter text: all that has come so far, without blanks at either end.
    mutating func read(_ text: ArraySlice<UInt8>, with seal: AgentSeal) -> Verdict {
        let colon = UInt8(ascii: ":")
        guard let first = text.firstIndex(of: colon) else {
            return text.count <= Self.lengthText && text.allSatisfy(Self.isDigit) ? .needsMore : .refused(.badFrame)
        }
        let length = text[..<first]
        guard (1...Self.lengthText).contains(length.count), length.allSatisfy(Self.isDigit) else {
            return .refused(.badFrame)
        }
        let rest = text[(first + 1)...]
        guard let second = rest.firstIndex(of: colon) else {
            return rest.count <= Self.nonceText ? .needsMore : .refused(.badFrame)
        }
        guard let nonce = Base64.decode(rest[..<second]), nonce.count == AgentSeal.nonceCount else {
            return .refused(.badFrame)
        }
        let declared = length.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        return open(rest[(second + 1)...], nonce, declared, seal)
    }

    private mutating func open(
        _ text: ArraySlice<UInt8>, _ nonce: [UInt8], _ declared: Int, _ seal: AgentSeal
    ) -> Verdict {
        let isPadded = text.last == UInt8(ascii: "=")
        guard text.count % 4 == 0, !text.isEmpty else {
            return text.allSatisfy(AgentExchange.isBase64) ? .needsMore : .refused(.badFrame)
        }
        let isAsLongAsSaid = text.count / 4 * 3 >= declared + AgentSeal.overhead
        guard isPadded || isAsLongAsSaid || tried < Self.costBefore else { return .needsMore }
        tried += text.count
        guard let box = Base64.decode(text) else { return .refused(.badFrame) }
        if let opened = seal.open(box, nonce: nonce) { return .opened(opened) }
        // Nothing can come after the padding.
        return isPadded || tried > Self.cost ? .refused(.sealBroken) : .needsMore
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }
}
