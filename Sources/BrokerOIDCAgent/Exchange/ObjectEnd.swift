/// Finds the end of a JSON object that arrives in pieces. It reads each byte once, and considers brackets and quotes only:
/// ``JSONReader`` checks whether the object is JSON.
struct ObjectEnd {
    private var depth = 0
    private var isInText = false
    private var isEscaped = false

    /// - Returns: the number of bytes that belong to the object; `nil` if its end is not among them.
    mutating func find(in bytes: some Collection<UInt8>) -> Int? {
        for (offset, byte) in bytes.enumerated() {
            if isInText {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInText = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInText = true
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if depth <= 0 { return offset + 1 }
            default: break
            }
        }
        return nil
    }
}
