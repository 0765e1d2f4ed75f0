import BrokerModel
import BrokerValues

/// An app's own parameters (`extraQueryParameters`): none may be one that the broker sets, however a provider reads its name.
enum ExtraParameters {
    static func check(
        _ given: [String: String], isTaken: (String) -> Bool
    ) throws(BrokerError) {
        let taken = given.keys.filter { isTaken(asRead($0)) }.sorted()
        guard taken.isEmpty else {
            throw BrokerError(
                .invalidParameter,
                "The broker sets \(taken.joined(separator: ", ")) itself; leave it out of extraQueryParameters.")
        }
    }

    /// A parameter's name as a provider may read it. Some ignore case; PHP reads a blank, a dot and an unclosed bracket as an
    /// underscore, and text in brackets as an index.
    private static func asRead(_ name: String) -> String {
        let bare = name.lowercased().utf8.drop { $0 == UInt8(ascii: " ") }
        let isList = bare.drop { $0 != UInt8(ascii: "[") }.contains(UInt8(ascii: "]"))
        let read = isList ? bare.prefix { $0 != UInt8(ascii: "[") } : bare
        return String(decoding: read.map { " .[".utf8.contains($0) ? UInt8(ascii: "_") : $0 }, as: UTF8.self)
    }
}
