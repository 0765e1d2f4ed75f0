import BrokerValues
import Foundation
import Testing

@Suite("Base64 from any sender")
struct AnyBase64Tests {
    @Test("either alphabet decodes, padded or not", arguments: 0..<40)
    func lengths(count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 97 &+ 0xf3) }
        let standard = Data(bytes).base64EncodedString()
        let url = standard.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }
        #expect(bytesOfAnyBase64(standard) == bytes)
        #expect(bytesOfAnyBase64(String(url)) == bytes)
        #expect(bytesOfAnyBase64(String(url.filter { $0 != "=" })) == bytes)
    }

    @Test(
        "invalid base64 gives nil",
        arguments: ["A", "AAAAA", "AA A", "AA\n", "A=AA", "=AAA", "{}", "\u{e9}\u{e9}", "AAAA.AAAA"])
    func refused(text: String) { #expect(bytesOfAnyBase64(text) == nil) }
}
