import BrokerValues
import FoundationEssentials

enum JSONReading {
    /// A JSON object, or nil for anything else.
    static func object(_ bytes: some Sequence<UInt8>) -> JSONObject? {
        try? JSONDecoder().decode(JSONObject.self, from: Data(bytes))
    }
}

extension JSONValue {
    /// Whole seconds, which some providers send as a string.
    var seconds: Int64? {
        if let integer = integerValue { return integer }
        guard let text = stringValue, let number = Double(text), number.magnitude < 0x1p62 else { return nil }
        return Int64(number)
    }

    var strings: [String]? { arrayValue.map { $0.compactMap(\.stringValue) } }
}
