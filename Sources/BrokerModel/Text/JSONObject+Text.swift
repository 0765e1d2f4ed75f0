import BrokerValues
import FoundationEssentials

extension JSONObject {
    /// - Returns: nil when the bytes are not JSON, or another value than an object.
    package init?(json bytes: some Sequence<UInt8>) {
        guard let object = try? JSONDecoder().decode(JSONObject.self, from: Data(bytes)) else { return nil }
        self = object
    }

    /// Its text, the same for the same members.
    ///
    /// - Returns: nil for a number that JSON cannot have.
    package var json: [UInt8]? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map(Array.init)
    }
}
