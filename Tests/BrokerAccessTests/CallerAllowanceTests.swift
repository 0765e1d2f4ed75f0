import BrokerAccess
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Rate limits of callers")
struct CallerAllowanceTests {
    @Test("a caller has ten in a minute, and other callers have their own")
    func limit() async throws {
        let bed = try await AccessBed()
        let allowance = CallerAllowance(.browsers, clock: bed.clock)
        let caller = try bed.caller()
        for _ in 0..<10 { try allowance.take(for: caller) }
        bed.clock.advance(bySeconds: 20)
        let error = #expect(throws: BrokerError.self) { try allowance.take(for: caller) }
        #expect(error?.kind == .throttled && error?.details.retryAfter == 41)
        try allowance.take(for: bed.caller { $0.executable = "/usr/bin/other" })
        bed.clock.advance(bySeconds: 40)
        try allowance.take(for: caller)
    }

    @Test("a caller begins at most 300 sign-ins in a minute, and browser windows are counted separately")
    func interactions() async throws {
        let bed = try await AccessBed()
        let (interactions, browsers) = (
            CallerAllowance(.interactions, clock: bed.clock), CallerAllowance(.browsers, clock: bed.clock)
        )
        let caller = try bed.caller()
        for _ in 0..<300 { try interactions.take(for: caller) }
        let error = #expect(throws: BrokerError.self) { try interactions.take(for: caller) }
        #expect(error?.kind == .throttled)
        #expect(error?.message.contains("begun 300 sign-ins within a minute") == true)
        try browsers.take(for: caller)
    }

    @Test("brokerctl uses the allowance of the program that started it")
    func front() async throws {
        let allowance = CallerAllowance(.browsers, clock: try await AccessBed().clock)
        for _ in 0..<10 { try allowance.take(for: .brokerctl(startedBy: "/opt/x")) }
        #expect(throws: BrokerError.self) { try allowance.take(for: .brokerctl(startedBy: "/opt/x")) }
        try allowance.take(for: .brokerctl(startedBy: "/opt/y"))
    }

    @Test(
        "sandboxes without a confirmed name share ten, and one with a name has its own"
    )
    func unnamed() async throws {
        let bed = try await AccessBed()
        let allowance = CallerAllowance(.browsers, clock: bed.clock)
        func sandbox(_ number: Int, _ name: String? = nil) throws -> Caller {
            try bed.caller {
                ($0.rootMount, $0.attestedName) = (.other, name.map(CallerName.flatpak))
                $0.cgroup = ControlGroup(path: "/user.slice/user-1000.slice/run-\(number).scope")
            }
        }
        for number in 0..<10 { try allowance.take(for: sandbox(number)) }
        let error = #expect(throws: BrokerError.self) { try allowance.take(for: sandbox(10)) }
        #expect(error?.kind == .throttled)
        try allowance.take(for: sandbox(10, "org.example.Game"))
    }

    @Test("a program does not count as another one after taking another process number")
    func processNumbers() async throws {
        let bed = try await AccessBed()
        let allowance = CallerAllowance(.browsers, clock: bed.clock)
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
