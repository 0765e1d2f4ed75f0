extension JSONReader {
    /// Reads a document that is an object. A leading byte order mark is ignored, as RFC 8259, section 8.1, allows; every encoding
    /// other than UTF-8 is refused.
    package static func object(_ text: some Collection<UInt8>) throws(Malformed) -> JSONObject {
        let mark: [UInt8] = [0xef, 0xbb, 0xbf]
        let isMarked = text.starts(with: mark)
        let node = try read(text.dropFirst(isMarked ? mark.count : 0))
        guard let object = node.value.objectValue else { throw Malformed(offset: 0, problem: .notAnObject) }
        return object
    }
}

extension JSONObject {
    /// Reads an object; `nil` if the bytes are not JSON, or not an object.
    package init?(json bytes: some Collection<UInt8>) {
        guard let object = try? JSONReader.object(bytes) else { return nil }
        self = object
    }

    /// The object's text, which is identical for identical members.
    package var json: [UInt8] {
        var writer = JSONWriter()
        writer.value(.object(self), sorted: true)
        return writer.bytes
    }
}
