import BrokerRPC
import Foundation
import Testing

@Suite("Correlation ids")
struct CorrelationIDTests {
    @Test("generated ids are version 4 UUIDs")
    func made() throws {
        for _ in 0..<100 {
            let text = CorrelationID.make()
            let uuid = try #require(UUID(uuidString: text)).uuid
            #expect(text == text.lowercased())
            #expect(uuid.6 >> 4 == 4)
            #expect(uuid.8 >> 6 == 2)
        }
        #expect(CorrelationID.make() != CorrelationID.make())
    }

    @Test("generated ids have every digit at every position except version and variant")
    func digits() {
        var seen = [Set<Character>](repeating: [], count: 36)
        for _ in 0..<1_000 {
            for (place, digit) in CorrelationID.make().enumerated() { seen[place].insert(digit) }
        }
        for (place, digits) in seen.enumerated() {
            switch place {
            case 8, 13, 18, 23: #expect(digits == ["-"])
            case 14: #expect(digits == ["4"])
            case 19: #expect(digits == Set("89ab"))
            default: #expect(digits == Set("0123456789abcdef"))
            }
        }
    }
}
