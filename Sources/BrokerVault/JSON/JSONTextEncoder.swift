import BrokerValues

/// Writes an `Encodable` value as JSON text that ``JSONNodeDecoder`` decodes to the same value, with stream-safe text: for
/// records of the vault.
///
/// Foundation's encoder would add five megabytes to the program (decision 1).
package enum JSONTextEncoder {
    /// - Throws: `EncodingError` for a number without a JSON text, and for a value that encodes nothing.
    package static func encode(_ value: some Encodable) throws -> [UInt8] {
        let place = JSONPlace()
        try place.encode(value)
        var writer = JSONWriter()
        guard place.write(to: &writer) else {
            throw EncodingError.invalidValue(value, .init(codingPath: [], debugDescription: "JSON has no text for it"))
        }
        return writer.bytes
    }
}

/// The slot for one value: a container may be requested now and filled later.
private final class JSONPlace {
    private enum Content {
        case nothing
        case null
        case scalar(any JSONScalar)
        case members([(name: String, place: JSONPlace)])
        case elements([JSONPlace])
    }
    private var content = Content.nothing

    func encodeNil() { content = .null }

    func encode(_ value: some Encodable) throws {
        if let scalar = value as? any JSONScalar {
            content = .scalar(scalar)
        } else {
            try value.encode(to: JSONPlaceEncoder(place: self))
        }
    }

    func beginMembers() {
        if case .members = content { return }
        content = .members([])
    }

    func beginElements() {
        if case .elements = content { return }
        content = .elements([])
    }

    func member(_ name: String) -> JSONPlace {
        let place = JSONPlace()
        guard case .members(var members) = content else { return place }
        content = .nothing
        members.append((name, place))
        content = .members(members)
        return place
    }

    func element() -> JSONPlace {
        let place = JSONPlace()
        guard case .elements(var elements) = content else { return place }
        content = .nothing
        elements.append(place)
        content = .elements(elements)
        return place
    }

    var elementCount: Int { if case .elements(let elements) = content { elements.count } else { 0 } }

    /// - Returns: whether the whole value has a text.
    func write(to writer: inout JSONWriter) -> Bool {
        switch content {
        case .nothing: return false
        case .null: writer.null()
        case .scalar(let value): return value.write(to: &writer)
        case .members(let members):
            writer.beginObject()
            for (name, place) in members {
                writer.key(named: name)
                guard place.write(to: &writer) else { return false }
            }
            writer.endObject()
        case .elements(let elements):
            var isWritten = true
            writer.array { writer in
                for place in elements { isWritten = isWritten && place.write(to: &writer) }
            }
            return isWritten
        }
        return true
    }
}

private struct JSONPlaceEncoder: Encoder, SingleValueEncodingContainer {
    let place: JSONPlace
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        place.beginMembers()
        return KeyedEncodingContainer(JSONPlaceMembers(place: place))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        place.beginElements()
        return JSONPlaceElements(place: place)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }
    func encodeNil() { place.encodeNil() }
    func encode(_ value: some Encodable) throws { try place.encode(value) }
}

private struct JSONPlaceMembers<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let place: JSONPlace
    var codingPath: [any CodingKey] { [] }

    private func encoder(_ name: String) -> JSONPlaceEncoder { JSONPlaceEncoder(place: place.member(name)) }

    func encodeNil(forKey key: Key) { encoder(key.stringValue).encodeNil() }
    func encode(_ value: some Encodable, forKey key: Key) throws { try encoder(key.stringValue).encode(value) }
    func superEncoder() -> any Encoder { encoder("super") }
    func superEncoder(forKey key: Key) -> any Encoder { encoder(key.stringValue) }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder(key.stringValue).unkeyedContainer()
    }
    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        encoder(key.stringValue).container(keyedBy: type)
    }
}

private struct JSONPlaceElements: UnkeyedEncodingContainer {
    let place: JSONPlace
    var codingPath: [any CodingKey] { [] }
    var count: Int { place.elementCount }

    private func encoder() -> JSONPlaceEncoder { JSONPlaceEncoder(place: place.element()) }

    func encodeNil() { encoder().encodeNil() }
    func encode(_ value: some Encodable) throws { try encoder().encode(value) }
    func superEncoder() -> any Encoder { encoder() }
    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder().unkeyedContainer() }
    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        encoder().container(keyedBy: type)
    }
}
