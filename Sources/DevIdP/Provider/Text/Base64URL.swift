import FoundationEssentials

extension Data {
    /// `nil` for anything but base64url without padding.
    init?(base64URLText text: some StringProtocol) {
        guard text.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "=") })
        else { return nil }
        let plain = text.map { character -> Character in
            switch character {
            case "-": "+"
            case "_": "/"
            default: character
            }
        }
        self.init(base64Encoded: String(plain) + String(repeating: "=", count: (4 - plain.count % 4) % 4))
    }

    /// RFC 4648, section 5, without padding, as OAuth and JOSE use it.
    var base64URLText: String {
        String(
            decoding: base64EncodedData().compactMap { byte -> UInt8? in
                switch byte {
                case UInt8(ascii: "+"): UInt8(ascii: "-")
                case UInt8(ascii: "/"): UInt8(ascii: "_")
                case UInt8(ascii: "="): nil
                default: byte
                }
            }, as: UTF8.self)
    }
}

/// 256 random bits from the system's generator, in base64url.
func randomText() -> String {
    Data((0..<32).map { _ in UInt8.random(in: .min ... .max) }).base64URLText
}

/// Now, in seconds since 1970.
package func systemTime() -> Int { Int(Date().timeIntervalSince1970) }
