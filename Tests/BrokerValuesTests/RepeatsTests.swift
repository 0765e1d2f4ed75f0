import BrokerValues
import Testing

@Suite("What is told again and again")
struct RepeatsTests {
    @Test("the same is told once a minute, with how often it happened meanwhile")
    func same() {
        let repeats = Repeats<String, String>()
        #expect(repeats.tell("a", of: "caller", at: .seconds(0)) == 0)
        for second in 1..<60 { #expect(repeats.tell("a", of: "caller", at: .seconds(second)) == nil) }
        #expect(repeats.tell("a", of: "caller", at: .seconds(60)) == 59)
        #expect(repeats.tell("b", of: "caller", at: .seconds(60)) == 0)
    }

    @Test("one owner has sixteen different things told in a minute, and takes nobody else's")
    func flood() {
        let repeats = Repeats<Int, String>()
        let told = (0..<10_000).count { repeats.tell("greedy \($0)", of: 1, at: .seconds(1)) != nil }
        #expect(told == 16)
        #expect(repeats.tell("honest", of: 2, at: .seconds(1)) == 0)
        #expect(repeats.tell("later", of: 1, at: .seconds(62)) == 0)
    }
}
