import FoundationEssentials

/// Whether a JSON text names no member twice. Readers differ in which of the two counts, so a token that does is refused
/// (RFC 7515, section 4; RFC 7519, section 4).
enum MemberNames {
    /// - Parameter text: what a JSON reader takes; anything else than UTF-8 is not unique.
    static func areUnique(in text: [UInt8]) -> Bool {
        // Nil stands for an array.
        var open: [Set<String>?] = []
        var isName = false
        var position = 0
        while position < text.count {
            let byte = text[position]
            switch byte {
            case UInt8(ascii: "\""):
                guard let end = endOfString(in: text, from: position + 1) else { return false }
                if isName {
                    guard let name = name(text[position...end]),
                        open[open.endIndex - 1]?.insert(name).inserted == true
                    else { return false }
                    isName = false
                }
                position = end
            case UInt8(ascii: "{"):
                open.append([])
                isName = true
            case UInt8(ascii: "["):
                open.append(nil as Set<String>?)
                isName = false
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                guard open.popLast() != nil else { return false }
                isName = false
            case UInt8(ascii: ","):
                isName = (open.last ?? nil) != nil
            case 0x09, 0x0a, 0x0d, 0x20...0x7e:
                break
            default:
                return false
            }
            position += 1
        }
        return true
    }

    private static func endOfString(in text: [UInt8], from start: Int) -> Int? {
        var position = start
        while position < text.count {
            switch text[position] {
            case UInt8(ascii: "\""): return position
            case UInt8(ascii: "\\"): position += 2
            default: position += 1
            }
        }
        return nil
    }

    /// One name can be spelled in several ways.
    private static func name(_ quoted: ArraySlice<UInt8>) -> String? {
        guard quoted.contains(UInt8(ascii: "\\")) else {
            return String(validating: quoted.dropFirst().dropLast(), as: UTF8.self)
        }
        return try? JSONDecoder().decode(String.self, from: Data(quoted))
    }
}
