import BrokerRPC
import Foundation
import Testing

@Suite("Correlation ids")
struct CorrelationIDTests {
    @Test("are version 4 UUIDs")
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
}
