import BrokerRPC
import BrokerValues
import Foundation

/// Passes any bytes to the request parser and compares its verdict and its value with Foundation's.
func readRequest(_ bytes: UnsafeRawBufferPointer) {
    compareWithFoundation(bytes)
    answerRequests(RequestLine(bytes))
}

private func compareWithFoundation(_ bytes: UnsafeRawBufferPointer) {
    let theirs = foundation(bytes)
    let ours: JSONNode
    do throws(JSONReader.Malformed) {
        ours = try JSONReader.read(bytes)
    } catch {
        precondition((0...bytes.count).contains(error.offset), "the place is outside the text")
        if theirs != nil, !isStricterOnPurpose(error, bytes) {
            fatalError("refused (\(error)), but Foundation reads \(String(describing: theirs))")
        }
        return
    }
    if let theirs {
        precondition(isSame(ours, theirs), "read as \(ours), but Foundation reads \(theirs)")
    } else if !hasHugeNumber(ours) {
        fatalError("read as \(ours), but Foundation refuses it")
    }
    writeAndReadAgain(ours)
}

/// Input that the broker refuses and Foundation accepts.
private func isStricterOnPurpose(_ error: JSONReader.Malformed, _ bytes: UnsafeRawBufferPointer) -> Bool {
    if [.tooDeep, .tooMany, .notStreamSafe].contains(error.problem) || isTrailingComma(error, bytes) { return true }
    // Foundation accepts UTF-16 and UTF-32, which it recognizes by a mark or by zeros, and skips UTF-8's mark.
    if bytes.prefix(4).contains(0) || bytes.starts(with: [0xef, 0xbb, 0xbf]) { return true }
    return bytes.starts(with: [0xfe, 0xff]) || bytes.starts(with: [0xff, 0xfe])
}

/// Foundation accepts a comma before the closing bracket.
private func isTrailingComma(_ error: JSONReader.Malformed, _ bytes: UnsafeRawBufferPointer) -> Bool {
    guard error.problem == .unexpectedByte, bytes[error.offset] | 0x20 == UInt8(ascii: "}") else { return false }
    return bytes[..<error.offset].last { ![0x20, 0x09, 0x0a, 0x0d].contains($0) } == UInt8(ascii: ",")
}

/// Foundation's decoder skips unused members (the second of two with one name); its serialization
/// parses everything. Both must accept a text for it to count as accepted.
private func foundation(_ bytes: UnsafeRawBufferPointer) -> JSONValue? {
    let data = Data(bytes)
    guard (try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)) != nil else { return nil }
    return try? JSONDecoder().decode(JSONValue.self, from: data)
}

private func isSame(_ ours: JSONNode, _ theirs: JSONValue) -> Bool {
    switch (ours, theirs) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.string(let a), .string(let b)): Array(a.utf8) == Array(b.utf8)
    case (.number(let a), .integer(let b)): Int64(a) == b || Double(a) == Double(b)
    case (.number(let a), .number(let b)): Double(a) == b
    case (.array(let a), .array(let b)): a.count == b.count && zip(a, b).allSatisfy { isSame($0, $1) }
    case (.object(let a), .object(let b)):
        // No standard says which of two members with one name counts; the parser keeps both.
        Set(a.map(\.name)) == Set(b.keys)
            && b.allSatisfy { name, value in a.contains { $0.name == name && isSame($0.value, value) } }
    default: false
    }
}

private func hasHugeNumber(_ node: JSONNode) -> Bool {
    switch node {
    case .number(let text): Double(text)?.isFinite != true || Double(text)?.isNormal != true
    case .array(let elements): elements.contains(where: hasHugeNumber)
    case .object(let members): members.contains { hasHugeNumber($0.value) }
    default: false
    }
}

private func writeAndReadAgain(_ node: JSONNode) {
    guard !hasHugeNumber(node) else { return }
    var writer = JSONWriter()
    writer.value(node.value)
    guard let again = try? JSONReader.read(writer.bytes) else {
        fatalError("what was written cannot be read: \(String(decoding: writer.bytes, as: UTF8.self))")
    }
    precondition(again.value == node.value, "\(node.value) came back as \(again.value)")
}

/// Decodes the params of the named method, and writes an answer that must be one line of JSON.
private func answerRequests(_ line: RequestLine) {
    let items: [RequestLine.Item] =
        switch line {
        case .single(let item): [item]
        case .batch(let items): items
        case .refused(let error): [.invalid(nil, error)]
        }
    for item in items {
        var writer = JSONWriter()
        switch item {
        case .invalid(let id, let error): writer.refuse(with: error, to: id)
        case .call(let call):
            guard let method = MethodRegistry.methods.first(where: { $0.name == call.method }) else {
                writer.refuse(with: .methodNotFound(call.method), to: call.id)
                break
            }
            decode(method, call, &writer)
        }
        precondition(!writer.bytes.contains { $0 < 0x20 }, "an answer with a control character")
        guard (try? JSONReader.read(writer.bytes)) != nil else {
            fatalError("an answer that is no JSON: \(String(decoding: writer.bytes, as: UTF8.self))")
        }
    }
}

private func decode<M: BrokerMethod>(_: M.Type, _ call: Call, _ writer: inout JSONWriter) {
    do throws(RPCError) {
        try M.read(call).params.write(to: &writer)
    } catch {
        writer.refuse(with: error, to: call.id)
    }
}
