import BrokerAccess
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Browser windows that callers have the broker open")
struct BrowserAllowanceTests {
    @Test("a caller has ten in a minute; others have theirs")
    func limit() async throws {
        let bed = try await AccessBed()
        let allowance = BrowserAllowance(clock: bed.clock)
        let caller = try bed.caller()
        for _ in 0..<10 { try allowance.take(for: caller) }
        bed.clock.advance(bySeconds: 20)
        let error = #expect(throws: BrokerError.self) { try allowance.take(for: caller) }
        #expect(error?.kind == .throttled && error?.details.retryAfter == 41)
        try allowance.take(for: bed.caller { $0.executable = "/usr/bin/other" })
        bed.clock.advance(bySeconds: 40)
        try allowance.take(for: caller)
    }

    @Test("brokerctl takes from the allowance of the program that started it")
    func front() async throws {
        let allowance = BrowserAllowance(clock: try await AccessBed().clock)
        for _ in 0..<10 { try allowance.take(for: .brokerctl(startedBy: "/opt/x")) }
        #expect(throws: BrokerError.self) { try allowance.take(for: .brokerctl(startedBy: "/opt/x")) }
        try allowance.take(for: .brokerctl(startedBy: "/opt/y"))
    }

    @Test(
        "sandboxes without a confirmed name have ten together, however many they look like; one with a name has its own"
    )
    func unnamed() async throws {
        let bed = try await AccessBed()
        let allowance = BrowserAllowance(clock: bed.clock)
        func sandbox(_ number: Int, _ name: String? = nil) throws -> Caller {
            try bed.caller {
                ($0.rootMount, $0.flatpakID) = (.other, name)
                $0.cgroup = ControlGroup(path: "/user.slice/user-1000.slice/run-\(number).scope")
            }
        }
        for number in 0..<10 { try allowance.take(for: sandbox(number)) }
        let error = #expect(throws: BrokerError.self) { try allowance.take(for: sandbox(10)) }
        #expect(error?.kind == .throttled)
        try allowance.take(for: sandbox(10, "org.example.Game"))
    }

    @Test("a program does not become another one by taking another process number")
    func processNumbers() async throws {
        let bed = try await AccessBed()
        let allowance = BrowserAllowance(clock: bed.clock)
        func hidden(_ pid: Int32) throws -> BrokerError? {
            let caller = try bed.caller {
                $0.pid = pid
                $0.executable = nil
            }
            do throws(BrokerError) {
                try allowance.take(for: caller)
                return nil
            } catch { return error }
        }
        for pid in 1...10 { #expect(try hidden(Int32(pid)) == nil) }
        #expect(try hidden(11)?.kind == .throttled)
    }
}
