import BrokerModel
import BrokerOIDCAgent
import BrokerValues
import CSodium

/// A client of oidc-agent that sends the bytes: unchanged, sealed as a request, or in place of a sealed one. The first three
/// bytes select the form, the split, and the error of the length.
func readAgentExchange(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count > 3 else { return }
    let (how, size, lie) = (bytes[0], Int(bytes[1] & 0x3f) + 1, Int(bytes[2]))
    let text = Array(bytes.dropFirst(3))
    guard how & 3 != 0 else { return readPlain(text, size) }
    var exchange = AgentExchange(makeKeys: { ours })
    let client = AgentSeal(with: ours.publicKey, theirs)
    guard let client, case .write(let key) = exchange.feed(Array(Base64.encode(theirs.publicKey).utf8), 44) else {
        preconditionFailure("no keys were exchanged")
    }
    precondition(key == Array(Base64.encode(ours.publicKey).utf8), "another key than ours")
    guard how & 3 == 1 else {
        if case .ask = exchange.feed(text, size) { preconditionFailure("a box that nobody sealed was opened") }
        return checkEnd(&exchange)
    }
    var frame = client.seal(text)
    if lie != 0, let colon = frame.firstIndex(of: UInt8(ascii: ":")) {
        frame.replaceSubrange(..<colon, with: String(lie * lie).utf8)
    }
    let step = exchange.feed(frame, size)
    if frame.count <= AgentExchange.limit { check(step, against: text) }
    checkAnswer(exchange, to: text, openedBy: client, step)
    checkEnd(&exchange)
}

private let ours = keys(from: 1)
private let theirs = keys(from: 2)

private func keys(from number: UInt8) -> AgentKeyPair {
    var (publicKey, secretKey) = ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 32))
    _ = sodium_init()
    crypto_kx_seed_keypair(&publicKey, &secretKey, [UInt8](repeating: number, count: 32))
    return AgentKeyPair(publicKey: publicKey, secretKey: secretKey.withUnsafeBytes { Secret(copying: $0) })
}

private func readPlain(_ text: [UInt8], _ size: Int) {
    var (whole, cut) = (AgentExchange(makeKeys: { ours }), AgentExchange(makeKeys: { ours }))
    let (first, second) = (whole.feed(text, max(text.count, 1)), cut.feed(text, size))
    precondition(first.request == second.request, "pieces make another request")
    precondition(!mustAccept || first.request != nil, "a valid seed was refused")
    checkEnd(&whole)
    checkEnd(&cut)
}

/// A sealed request is read like an unsealed one.
private func check(_ step: AgentExchange.Step, against text: [UInt8]) {
    let read: Result<AgentRequest, AgentRefusal> = text.withUnsafeBytes { bytes in
        do throws(AgentRefusal) { return .success(try AgentRequest(json: bytes)) } catch { return .failure(error) }
    }
    switch read {
    case .success(let request):
        precondition(step.request == request, "a seal changed the request")
        guard case .token(let asked) = request else { return }
        precondition(asked.scopes.allSatisfy { !$0.isEmpty && !$0.utf8.contains(0x20) }, "a scope with a blank")
        precondition(asked.minimumLifetime.map { $0 > 0 } ?? true, "a lifetime that is none")
        precondition(asked.hint?.isSafeToShow ?? true, "a hint that steers a terminal")
    case .failure(let refusal):
        precondition(step.request == nil && !mustAccept, "a seal made a request of it")
        precondition(
            refusal.text.isSafeToShow && refusal.failure.info.contains(", run: "), "an answer that says nothing to do")
    }
}

extension String {
    fileprivate var isSafeToShow: Bool { unicodeScalars.allSatisfy(\.isSafeToShow) }
}

/// For every request, the answer is one object, with the seal of the request.
private func checkAnswer(
    _ exchange: AgentExchange, to text: [UInt8], openedBy client: AgentSeal, _ step: AgentExchange.Step
) {
    guard step.request != nil else { return }
    var writer = JSONWriter()
    AgentReply.names([String(decoding: text, as: UTF8.self)], to: &writer)
    let plain = writer.bytes
    let parts = exchange.answer(&writer).split(separator: UInt8(ascii: ":"))
    precondition(parts.count == 3 && writer.bytes.isEmpty, "an answer in another form")
    guard let nonce = Base64.decode(parts[1]), let box = Base64.decode(parts[2]),
        let opened = client.open(box, nonce: nonce)
    else { preconditionFailure("an answer that its client cannot open") }
    precondition(opened.withBytes { Array($0) } == plain, "another answer")
    precondition((try? JSONReader.read(plain)) != nil, "an answer that is no JSON")
}

/// After its end it reads nothing and sends nothing.
private func checkEnd(_ exchange: inout AgentExchange) {
    precondition(exchange.count <= AgentExchange.limit + 1, "it keeps more than it may")
    exchange.finish()
    precondition(exchange.isOver && exchange.count == 0, "it keeps something")
    if case .needsMore = exchange.feed(Array("{}".utf8), 1) {} else { preconditionFailure("it goes on") }
    precondition(!exchange.isUnderWay)
}

extension AgentExchange {
    /// - Returns: the first result.
    fileprivate mutating func feed(_ bytes: [UInt8], _ size: Int) -> Step {
        for start in stride(from: 0, to: bytes.count, by: size) {
            bytes[start..<min(start + size, bytes.count)].withUnsafeBytes { append($0) }
            let step = next()
            if case .needsMore = step { continue }
            return step
        }
        return .needsMore
    }
}

extension AgentExchange.Step {
    fileprivate var request: AgentRequest? { if case .ask(let request) = self { request } else { nil } }
}
