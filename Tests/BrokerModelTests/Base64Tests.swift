import BrokerModel
import Testing

@Suite("Base64")
struct Base64Tests {
    /// RFC 4648, section 10, and bytes that need the last two characters of an alphabet.
    static let vectors: [(bytes: [UInt8], standard: String, url: String)] = [
        ([], "", ""), (Array("f".utf8), "Zg==", "Zg"), (Array("fo".utf8), "Zm8=", "Zm8"),
        (Array("foo".utf8), "Zm9v", "Zm9v"), (Array("foob".utf8), "Zm9vYg==", "Zm9vYg"),
        (Array("fooba".utf8), "Zm9vYmE=", "Zm9vYmE"), (Array("foobar".utf8), "Zm9vYmFy", "Zm9vYmFy"),
        ([0xfb, 0xff, 0xfe], "+//+", "-__-"), ([0xff], "/w==", "_w"),
    ]

    @Test("both alphabets encode and decode", arguments: vectors)
    func bothWays(bytes: [UInt8], standard: String, url: String) {
        #expect(Base64.encode(bytes) == standard)
        #expect(Base64URL.encode(bytes) == url)
        #expect(Base64URL.decode(url.utf8) == bytes)
        #expect(Base64.decode(standard.utf8) == bytes)
        for text in [standard, url, url + "==", String(standard.prefix { $0 != "=" })] {
            #expect(Base64.decodeLeniently(text.utf8) == bytes)
        }
        let secret = bytes.withUnsafeBytes { Secret(copying: $0) }
        #expect(Base64.encode(secret, prefix: "Basic ").revealed() == "Basic " + standard)
        #expect(Base64.encode(secret, prefix: "").revealed() == standard)
    }

    @Test(
        "base64url has one encoding: padding, the other alphabet, blanks and leftover bits are refused",
        arguments: [
            "Zg==", "Zg=", "+__-", "Zm9v\n", " Zm9v", "Zm 9v", "Zh", "Zm9", "Z", "Zm9vY", "Zm9v\0", "Zm9v.", "\u{e9}",
        ])
    func strict(text: String) {
        #expect(Base64URL.decode(text.utf8) == nil)
    }

    @Test(
        "base64 requires padding and refuses the other alphabet",
        arguments: ["Zg", "Zg=", "-__-", "Zm9v\n", "Zh==", "Zm9v----"])
    func standard(text: String) {
        #expect(Base64.decode(text.utf8) == nil)
    }

    @Test(
        "lenient decoding accepts padding and either alphabet, and refuses anything else",
        arguments: ["Z", "Zh==", "Zm9v\n", "Zm=9v", "!!!", "Zm9v.Zm9v"])
    func lenient(text: String) {
        #expect(Base64.decodeLeniently(text.utf8) == nil)
    }
}
