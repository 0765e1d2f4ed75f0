import BrokerValues
import Testing

@Suite("Repeated messages")
struct RepeatsTests {
    @Test("the same message is reported once a minute, with the number of repetitions")
    func same() {
        let repeats = Repeats<String, String, String>()
        #expect(repeats.tell("a", of: "caller", at: .seconds(0)) == 0)
        for second in 1..<60 { #expect(repeats.tell("a", of: "caller", at: .seconds(second)) == nil) }
        #expect(repeats.tell("a", of: "caller", at: .seconds(60)) == 59)
        #expect(repeats.tell("b", of: "caller", at: .seconds(60)) == 0)
    }

    @Test("an owner may report sixteen messages a minute, without limiting other owners")
    func flood() {
        let repeats = Repeats<Int, Int, String>()
        let told = (0..<10_000).count { repeats.tell("greedy \($0)", of: 1, at: .seconds(1)) != nil }
        #expect(told == 16)
        #expect(repeats.tell("honest", of: 2, at: .seconds(1)) == 0)
        #expect(repeats.tell("later", of: 1, at: .seconds(62)) == 0)
    }

    @Test("an owner of many parts leaves room for the messages of others")
    func manyParts() {
        let repeats = Repeats<Int, Int, String>()
        let told = (0..<10_000).count { repeats.tell("\($0)", by: $0, of: 1, at: .seconds(1)) != nil }
        #expect(told == 512)
        #expect(repeats.tell("honest", by: 1, of: 2, at: .seconds(1)) == 0)
        #expect(repeats.tell("later", by: 1, of: 1, at: .seconds(62)) == 0)
    }
}
