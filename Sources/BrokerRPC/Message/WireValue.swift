import BrokerValues

/// A value of a message: read from a line, written to one, and described in the OpenRPC document.
package protocol WireValue: Sendable {
    static var schema: Schema { get }
    init(reading node: JSONNode) throws(WireError)
    func write(to writer: inout JSONWriter)
}

extension String: WireValue {
    package static var schema: Schema { Schema(["type": "string"]) }
    package init(reading node: JSONNode) throws(WireError) {
        guard case .string(let text) = node else { throw .expected("a string", not: node) }
        self = text
    }
    package func write(to writer: inout JSONWriter) { writer.string(self) }
}

extension Bool: WireValue {
    package static var schema: Schema { Schema(["type": "boolean"]) }
    package init(reading node: JSONNode) throws(WireError) {
        guard case .bool(let value) = node else { throw .expected("true or false", not: node) }
        self = value
    }
    package func write(to writer: inout JSONWriter) { writer.bool(self) }
}

extension Int64: WireValue {
    package static var schema: Schema { Schema(["type": "integer"]) }
    package init(reading node: JSONNode) throws(WireError) {
        guard case .number(let text) = node else { throw .expected("a whole number", not: node) }
        guard let value = Int64(text) else { throw WireError("must be a whole number of at most 64 bits") }
        self = value
    }
    package func write(to writer: inout JSONWriter) { writer.integer(self) }
}

extension Int: WireValue {
    package static var schema: Schema { Int64.schema }
    package init(reading node: JSONNode) throws(WireError) { self = Int(try Int64(reading: node)) }
    package func write(to writer: inout JSONWriter) { writer.integer(Int64(self)) }
}

extension Array: WireValue where Element: WireValue {
    package static var schema: Schema { .array(of: Element.schema) }
    package init(reading node: JSONNode) throws(WireError) {
        guard case .array(let nodes) = node else { throw .expected("an array", not: node) }
        self = []
        reserveCapacity(nodes.count)
        for (index, node) in nodes.enumerated() {
            do throws(WireError) { append(try Element(reading: node)) } catch { throw error.inside("[\(index)]") }
        }
    }
    package func write(to writer: inout JSONWriter) {
        writer.array { writer in for element in self { element.write(to: &writer) } }
    }
}

extension Dictionary: WireValue where Key == String, Value: WireValue {
    package static var schema: Schema { .map(of: Value.schema) }
    package init(reading node: JSONNode) throws(WireError) {
        guard case .object(let members) = node else { throw .expected("an object", not: node) }
        self = [:]
        for member in members {
            do throws(WireError) {
                guard updateValue(try Value(reading: member.value), forKey: member.name) == nil else {
                    throw WireError("is given twice")
                }
            } catch { throw error.inside(member.name) }
        }
    }
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            for (name, value) in self {
                writer.key(named: name)
                value.write(to: &writer)
            }
        }
    }
}

extension JSONValue: WireValue {
    package static var schema: Schema { Schema([:]) }
    package init(reading node: JSONNode) throws(WireError) { self = node.value }
    package func write(to writer: inout JSONWriter) { writer.value(self) }
}

extension Schema {
    @inline(never)
    func adding(standard: any WireValue) -> Schema {
        var example = JSONWriter()
        standard.write(to: &example)
        return adding(["default": (try? JSONReader.read(example.bytes))?.value ?? .null])
    }
}

/// One string of a fixed set.
package protocol WireChoice: WireValue, CaseIterable, RawRepresentable<String> {}

extension WireChoice {
    package static var schema: Schema { .choice(allCases.map(\.rawValue)) }
    package init(reading node: JSONNode) throws(WireError) {
        guard let value = Self(rawValue: try String(reading: node)) else {
            throw .noneOf(Self.allCases.map(\.rawValue))
        }
        self = value
    }
    package func write(to writer: inout JSONWriter) { writer.string(rawValue) }
}

extension Prompt: WireChoice {}
extension TokenType: WireChoice {}
extension MeasuredToken: WireChoice {}
extension ClientSecretMethod: WireChoice {}
extension Presentation: WireChoice {}
extension ErrorKind: WireChoice {}
extension ErrorReason: WireChoice {}
