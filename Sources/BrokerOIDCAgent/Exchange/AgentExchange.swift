import BrokerModel
import BrokerValues

/// Reads one connection of an oidc-agent client, from its first byte to its request. It is a state machine: bytes are appended, and
/// it returns steps.
///
/// The protocol has no frames; a message is the result of one read. Here a message may arrive in any pieces: a key is 44
/// characters, an object ends with its last bracket, and a box when it opens (``SealedFrame``). Bytes after the request are
/// dropped.
package struct AgentExchange: Sendable {
    package enum Step {
        case needsMore
        /// Write these bytes, all at once, and continue.
        case write([UInt8])
        /// No more is read; the answer is ``answer(_:)``, and then the connection ends.
        case ask(AgentRequest)
        /// No more is read; the answer is an error, and then the connection ends.
        case refuse(AgentRefusal)
    }

    /// The most bytes of a message, as sent. Real ones have a few hundred.
    package static let limit = 64 << 10
    /// The number of characters of a key in base64.
    private static let keyText = 44

    private enum State {
        case opening
        case object(ObjectEnd, searched: Int)
        /// Both sides have the other's key.
        case agreed(peer: [UInt8], AgentKeyPair)
        case sealed(AgentSeal, SealedFrame)
        case over
    }

    private let makeKeys: @Sendable () -> AgentKeyPair
    private var state = State.opening
    private var pending: [UInt8] = []
    /// The number of blanks before a message: they count towards its size, and its time limit begins with them.
    private var dropped = 0
    /// The seal of the answer: the same as that of the request.
    private var answering: AgentSeal?

    /// - Parameter makeKeys: called when a client begins a key exchange.
    package init(makeKeys: @escaping @Sendable () -> AgentKeyPair = { .random() }) { self.makeKeys = makeKeys }

    /// The number of bytes in memory.
    package var count: Int { pending.count }

    /// Whether more bytes are expected: a message is incomplete, or keys were exchanged.
    package var isUnderWay: Bool {
        switch state {
        case .opening: count + dropped > 0
        case .object, .agreed, .sealed: true
        case .over: false
        }
    }

    package var isOver: Bool { if case .over = state { true } else { false } }

    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard !isOver, count + dropped <= Self.limit else { return }
        // One byte beyond the limit shows that it is too much.
        pending.append(contentsOf: bytes.prefix(Self.limit + 1 - count - dropped))
    }

    /// The next step. Call it until it needs more, or the exchange is over.
    package mutating func next() -> Step {
        let step = look()
        switch step {
        case .ask, .refuse: finish()
        case .needsMore where count + dropped > Self.limit:
            finish()
            return .refuse(.tooLong(limit: Self.limit))
        case .needsMore, .write: break
        }
        return step
    }

    /// The bytes to send, in one write.
    ///
    /// - Parameter writer: has the text of the answer, which is taken out of it or wiped.
    package func answer(_ writer: inout JSONWriter) -> [UInt8] {
        var bytes: [UInt8] = []
        if let answering {
            bytes = answering.seal(writer.bytes)
            writer.wipe()
        } else {
            writer.lendBytes { swap(&$0, &bytes) }
        }
        return bytes
    }

    /// The bytes of an error, in one write.
    package func answer(_ failure: AgentFailure) -> [UInt8] {
        var writer = JSONWriter()
        AgentReply.failure(failure, to: &writer)
        return answer(&writer)
    }

    // MARK: Steps

    private mutating func look() -> Step {
        switch state {
        case .opening: open()
        case .object(let end, let searched): readObject(end, searched)
        case .agreed(let peer, let keys): agree(peer, keys)
        case .sealed(let seal, let frame): readFrame(seal, frame)
        case .over: .needsMore
        }
    }

    private mutating func open() -> Step {
        dropBlanks()
        guard let first = pending.first else { return .needsMore }
        guard first != UInt8(ascii: "{") else { return readObject(ObjectEnd(), 0) }
        let text = pending.prefix(Self.keyText)
        guard text.allSatisfy(AgentCharacter.isBase64) else { return .refuse(.neitherKeyNorObject) }
        guard text.count == Self.keyText else { return .needsMore }
        guard let peer = Base64.decode(text), peer.count == AgentSeal.keyCount else { return .refuse(.badKey) }
        let keys = makeKeys()
        pending.removeFirst(Self.keyText)
        state = .agreed(peer: peer, keys)
        return .write(Array(Base64.encode(keys.publicKey).utf8))
    }

    private mutating func readObject(_ end: ObjectEnd, _ searched: Int) -> Step {
        var end = end
        guard let length = end.find(in: pending[searched...]) else {
            state = .object(end, searched: pending.count)
            return .needsMore
        }
        guard searched + length <= Self.limit else { return .refuse(.tooLong(limit: Self.limit)) }
        return pending[..<(searched + length)].withUnsafeBytes(Self.request)
    }

    private mutating func agree(_ peer: [UInt8], _ keys: AgentKeyPair) -> Step {
        dropBlanks()
        guard !pending.isEmpty else { return .needsMore }
        guard let seal = AgentSeal(with: peer, keys) else { return .refuse(.badKey) }
        return readFrame(seal, SealedFrame())
    }

    private mutating func readFrame(_ seal: AgentSeal, _ frame: SealedFrame) -> Step {
        var frame = frame
        switch frame.read(pending, with: seal) {
        case .needsMore:
            state = .sealed(seal, frame)
            return .needsMore
        case .refused(let refusal): return .refuse(refusal)
        case .opened(let text):
            answering = seal
            return text.withBytes(Self.request)
        }
    }

    private mutating func dropBlanks() {
        let blanks = pending.prefix(while: AgentCharacter.isBlank).count
        pending.removeFirst(blanks)
        dropped += blanks
    }

    private static func request(_ text: UnsafeRawBufferPointer) -> Step {
        do throws(AgentRefusal) { return .ask(try AgentRequest(json: text)) } catch { return .refuse(error) }
    }

    /// Ends the exchange and wipes the bytes, which may have included a passphrase.
    package mutating func finish() {
        (state, dropped) = (.over, 0)
        _ = pending.withUnsafeMutableBytes { $0.initializeMemory(as: UInt8.self, repeating: 0) }
        pending = []
    }
}
