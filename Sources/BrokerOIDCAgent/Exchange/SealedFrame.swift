import BrokerModel

/// A message `length:nonce:box`, which arrives in pieces without a reliable end: the length is wrong if a client counts characters
/// instead of bytes. So the message is complete when its box opens.
struct SealedFrame {
    enum Verdict {
        case needsMore
        case opened(Secret)
        case refused(AgentRefusal)
    }

    /// The cost limits of opening attempts, in bytes read: before the stated length has arrived, and in total.
    private static let costBefore = 256 << 10
    private static let cost = 4 << 20
    private static let nonceText = 32
    private static let lengthText = 8

    private struct Header {
        let declared: Int
        let nonce: [UInt8]
        /// The index of the first byte of the box.
        let start: Int
    }

    private var header: Header?
    /// The number of bytes that are known to be of the header, or base64.
    private var scanned = 0
    private var tried = 0

    /// - Parameter text: all bytes so far, without leading blanks. Bytes of earlier calls are not scanned again.
    mutating func read(_ text: [UInt8], with seal: AgentSeal) -> Verdict {
        if header == nil {
            switch Self.header(of: text) {
            case .success(let found?): (header, scanned) = (found, found.start)
            case .success(nil): return .needsMore
            case .failure(let refusal): return .refused(refusal)
            }
        }
        guard let header else { return .needsMore }
        let other = text[scanned...].firstIndex { !AgentCharacter.isBase64($0) }
        if let other, !AgentCharacter.isBlank(text[other]) { return .refused(.badFrame) }
        scanned = other ?? text.count
        return open(text[header.start..<scanned], header, seal, hasEnded: other != nil)
    }

    private mutating func open(
        _ text: ArraySlice<UInt8>, _ header: Header, _ seal: AgentSeal, hasEnded: Bool
    ) -> Verdict {
        guard text.count % 4 == 0, !text.isEmpty else { return hasEnded ? .refused(.badFrame) : .needsMore }
        // No bytes can follow the padding.
        let isWhole = hasEnded || text.last == UInt8(ascii: "=")
        let isAsLongAsSaid = text.count / 4 * 3 >= header.declared + AgentSeal.overhead
        guard isWhole || isAsLongAsSaid || tried < Self.costBefore else { return .needsMore }
        tried += text.count
        guard let box = Base64.decode(text) else { return .refused(.badFrame) }
        if let opened = seal.open(box, nonce: header.nonce) { return .opened(opened) }
        return isWhole || tried > Self.cost ? .refused(.sealBroken) : .needsMore
    }

    /// - Returns: `nil` while it is incomplete.
    private static func header(of text: [UInt8]) -> Result<Header?, AgentRefusal> {
        let colon = UInt8(ascii: ":")
        let length = text.prefix(lengthText + 1).prefix { $0 != colon }
        guard length.count <= lengthText, length.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }) else {
            return .failure(.badFrame)
        }
        guard length.count < text.count else { return .success(nil) }
        guard !length.isEmpty else { return .failure(.badFrame) }
        let rest = text[(length.count + 1)...]
        let nonceText = rest.prefix(Self.nonceText + 1).prefix { $0 != colon }
        guard nonceText.count <= Self.nonceText else { return .failure(.badFrame) }
        guard nonceText.count < rest.count else { return .success(nil) }
        guard let nonce = Base64.decode(nonceText), nonce.count == AgentSeal.nonceCount else {
            return .failure(.badFrame)
        }
        let declared = length.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        return .success(Header(declared: declared, nonce: nonce, start: nonceText.endIndex + 1))
    }
}
