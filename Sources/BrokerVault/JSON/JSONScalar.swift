import BrokerValues

/// A value that contains no other values and has its own JSON text.
protocol JSONScalar: Codable {
    init?(_ node: JSONNode)
    /// - Returns: whether the value has a JSON text; if so, it is written.
    func write(to writer: inout JSONWriter) -> Bool
}

extension String: JSONScalar {
    init?(_ node: JSONNode) {
        guard case .string(let text) = node else { return nil }
        self = text
    }

    func write(to writer: inout JSONWriter) -> Bool {
        writer.string(self)
        return true
    }
}

extension Bool: JSONScalar {
    init?(_ node: JSONNode) {
        guard case .bool(let value) = node else { return nil }
        self = value
    }

    func write(to writer: inout JSONWriter) -> Bool {
        writer.bool(self)
        return true
    }
}

extension JSONValue: JSONScalar {
    init?(_ node: JSONNode) { self = node.value }

    func write(to writer: inout JSONWriter) -> Bool {
        writer.value(self)
        return true
    }
}

extension JSONScalar where Self: LosslessStringConvertible & Numeric {
    init?(_ node: JSONNode) {
        guard case .number(let text) = node else { return nil }
        self.init(text)
    }

    func write(to writer: inout JSONWriter) -> Bool {
        writer.json(description)
        return true
    }
}

extension JSONScalar where Self: LosslessStringConvertible & BinaryFloatingPoint {
    func write(to writer: inout JSONWriter) -> Bool {
        guard isFinite else { return false }
        writer.json(description)
        return true
    }
}

extension Double: JSONScalar {}
extension Float: JSONScalar {}
extension Int: JSONScalar {}
extension Int8: JSONScalar {}
extension Int16: JSONScalar {}
extension Int32: JSONScalar {}
extension Int64: JSONScalar {}
extension Int128: JSONScalar {}
extension UInt: JSONScalar {}
extension UInt8: JSONScalar {}
extension UInt16: JSONScalar {}
extension UInt32: JSONScalar {}
extension UInt64: JSONScalar {}
extension UInt128: JSONScalar {}
