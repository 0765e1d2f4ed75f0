import BrokerModel

/// Percent-encoding for queries and form bodies: everything but RFC 3986's unreserved characters is escaped.
///
/// A space becomes `%20` in both. Form decoders and URI decoders read that alike, a `+` they do not.
enum PercentEncoding {
    static func encode(_ text: String) -> String {
        var result: [UInt8] = []
        result.reserveCapacity(text.utf8.count * 3 / 2)
        for byte in text.utf8 { append(byte, spaceAsPlus: false) { result.append($0) } }
        return String(decoding: result, as: UTF8.self)
    }

    /// A URL with parameters in its query. A query that it has already stays (RFC 6749, section 3.1).
    static func url(_ url: String, adding parameters: [(String, String)]) -> String {
        let query = parameters.map { "\(encode($0))=\(encode($1))" }.joined(separator: "&")
        if query.isEmpty { return url }
        if !url.contains("?") { return "\(url)?\(query)" }
        return url.hasSuffix("?") || url.hasSuffix("&") ? url + query : "\(url)&\(query)"
    }

    static func append(_ byte: UInt8, spaceAsPlus: Bool, to sink: (UInt8) -> Void) {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
            sink(byte)
        case UInt8(ascii: " ") where spaceAsPlus:
            sink(UInt8(ascii: "+"))
        default:
            sink(UInt8(ascii: "%"))
            sink(hexDigits[Int(byte >> 4)])
            sink(hexDigits[Int(byte & 15)])
        }
    }

    private static let hexDigits = Array("0123456789ABCDEF".utf8)
}

/// Builds a text that holds secrets straight in guarded memory: first the length is counted, then the bytes are written,
/// so that no intermediate copy lies about.
struct SecretText {
    private enum Piece {
        case plain(String)
        case encoded(String, spaceAsPlus: Bool)
        case encodedSecret(Secret, spaceAsPlus: Bool)
    }
    private var pieces: [Piece] = []

    mutating func append(_ text: String) { pieces.append(.plain(text)) }
    mutating func append(encoding text: String, spaceAsPlus: Bool = false) {
        pieces.append(.encoded(text, spaceAsPlus: spaceAsPlus))
    }
    mutating func append(encoding secret: Secret, spaceAsPlus: Bool = false) {
        pieces.append(.encodedSecret(secret, spaceAsPlus: spaceAsPlus))
    }

    func secret() -> Secret {
        var count = 0
        write { _ in count += 1 }
        return Secret(count: count) { buffer in
            var index = 0
            write { byte in
                buffer[index] = byte
                index += 1
            }
        }
    }

    private func write(_ sink: (UInt8) -> Void) {
        for piece in pieces {
            switch piece {
            case .plain(let text):
                text.utf8.forEach(sink)
            case .encoded(let text, let spaceAsPlus):
                for byte in text.utf8 { PercentEncoding.append(byte, spaceAsPlus: spaceAsPlus, to: sink) }
            case .encodedSecret(let secret, let spaceAsPlus):
                secret.withBytes { for byte in $0 { PercentEncoding.append(byte, spaceAsPlus: spaceAsPlus, to: sink) } }
            }
        }
    }
}

/// An `application/x-www-form-urlencoded` body (RFC 6749, appendix B).
package struct FormBody {
    package static let contentType = "application/x-www-form-urlencoded"
    private var text = SecretText()
    private var isEmpty = true

    package init() {}

    package mutating func add(_ name: String, _ value: String) {
        begin(name)
        text.append(encoding: value)
    }

    package mutating func add(_ name: String, _ value: Secret) {
        begin(name)
        text.append(encoding: value)
    }

    private mutating func begin(_ name: String) {
        if !isEmpty { text.append("&") }
        isEmpty = false
        text.append(encoding: name)
        text.append("=")
    }

    package func secret() -> Secret { text.secret() }
}
