import BrokerModel
import BrokerValues

/// Builds a text that contains secrets directly in guarded memory: first the length is counted, then the bytes are written,
/// so that no intermediate copy is left.
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
                for byte in text.utf8 { PercentEncoding.encode(byte, spaceAsPlus: spaceAsPlus, to: sink) }
            case .encodedSecret(let secret, let spaceAsPlus):
                secret.withBytes { for byte in $0 { PercentEncoding.encode(byte, spaceAsPlus: spaceAsPlus, to: sink) } }
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
