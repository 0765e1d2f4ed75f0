import BrokerValues

/// Decodes a `Decodable` value from what ``JSONReader`` has read: for records of the vault, which may contain another party's
/// JSON.
///
/// Foundation's decoder reads a ``JSONValue`` by trying one type after the other; this one uses the node itself.
package struct JSONNodeDecoder: Decoder {
    let node: JSONNode
    package let codingPath: [any CodingKey]
    package var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ node: JSONNode, at path: [any CodingKey] = []) {
        self.node = node
        codingPath = path
    }

    /// - Throws: `DecodingError` if the value has another shape.
    package static func decode<Value: Decodable>(_ type: Value.Type, from node: JSONNode) throws -> Value {
        try JSONNodeDecoder(node).decode(type)
    }

    package func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let members) = node else { throw mismatch("an object") }
        return KeyedDecodingContainer(
            JSONMembers(Dictionary(members.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 }), at: codingPath))
    }

    package func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let elements) = node else { throw mismatch("an array") }
        return JSONElements(elements, at: codingPath)
    }

    package func singleValueContainer() -> any SingleValueDecodingContainer { self }

    fileprivate func mismatch(_ expected: String) -> DecodingError {
        .typeMismatch(
            JSONNode.self, .init(codingPath: codingPath, debugDescription: "\(expected), not \(node.kindName)"))
    }
}

extension JSONNodeDecoder: SingleValueDecodingContainer {
    package func decodeNil() -> Bool { if case .null = node { true } else { false } }

    package func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if let scalar = type as? any JSONScalar.Type {
            guard let value = scalar.init(node) as? Value else { throw mismatch("\(type)") }
            return value
        }
        return try Value(from: self)
    }
}

private struct JSONMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let members: [String: JSONNode]
    let codingPath: [any CodingKey]

    init(_ members: [String: JSONNode], at path: [any CodingKey]) {
        self.members = members
        codingPath = path
    }

    var allKeys: [Key] { members.keys.compactMap(Key.init(stringValue:)) }
    func contains(_ key: Key) -> Bool { members[key.stringValue] != nil }
    func decodeNil(forKey key: Key) throws -> Bool { try member(key).decodeNil() }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try member(key).decode(type) }
    func superDecoder() throws -> any Decoder { JSONNodeDecoder(.object([]), at: codingPath) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try member(key) }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try member(key).unkeyedContainer()
    }
    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try member(key).container(keyedBy: type)
    }

    private func member(_ key: Key) throws -> JSONNodeDecoder {
        guard let node = members[key.stringValue] else {
            throw DecodingError.keyNotFound(key, .init(codingPath: codingPath, debugDescription: "is missing"))
        }
        return JSONNodeDecoder(node, at: codingPath + [key])
    }
}

private struct JSONElements: UnkeyedDecodingContainer {
    private let elements: [JSONNode]
    let codingPath: [any CodingKey]
    private(set) var currentIndex = 0

    init(_ elements: [JSONNode], at path: [any CodingKey]) {
        self.elements = elements
        codingPath = path
    }

    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex == elements.count }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, case .null = elements[currentIndex] else { return false }
        currentIndex += 1
        return true
    }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try next { try $0.decode(type) } }
    mutating func superDecoder() throws -> any Decoder { try next { $0 } }
    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try next { try $0.unkeyedContainer() }
    }
    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        try next { try $0.container(keyedBy: type) }
    }

    private mutating func next<Result>(_ body: (JSONNodeDecoder) throws -> Result) throws -> Result {
        guard !isAtEnd else {
            throw DecodingError.dataCorrupted(.init(codingPath: codingPath, debugDescription: "ends too early"))
        }
        let result = try body(JSONNodeDecoder(elements[currentIndex], at: codingPath))
        currentIndex += 1
        return result
    }
}
