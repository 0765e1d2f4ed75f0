import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

@Suite("Clocks that jump", .serialized) struct ClockTests {
    private static let hours: Int64 = 3_600

    private func scene(_ clock: MovedClock, in bed: TestBed, _ configuration: String? = nil) async throws
        -> DevelopmentScene
    {
        try await DevelopmentScene.make(
            in: bed,
            options: {
                $0.wrapper = clock.wrapper
                $0.configuration = configuration
            })
    }

    @Test("cached tokens expire when the clock jumps ahead, and are not trusted after it is set back")
    func steps() async throws {
        try await withTestBed { bed in
            let clock = try await MovedClock(in: bed)
            let scene = try await scene(clock, in: bed)
            let first = try await scene.signIn().accessToken
            #expect(try await scene.silent().text("accessToken") == first)

            try clock.set(to: 2 * Self.hours)
            scene.provider.advanceClock(by: Int(2 * Self.hours))
            let second = try await scene.silent()
            #expect(second.text("accessToken") != first && scene.provider.refreshes == 1)
            let now = Int64(Date().timeIntervalSince1970) + 2 * Self.hours
            let expiresOn = try #require(second["expiresOn"]?.integerValue)
            #expect((now + Self.hours - 60...now + Self.hours + 60).contains(expiresOn))
            #expect(try await scene.silent().text("accessToken") == second.text("accessToken"))

            try clock.set(to: 0)
            scene.provider.advanceClock(by: Int(-2 * Self.hours))
            let third = try await scene.silent().text("accessToken")
            #expect(third != second.text("accessToken") && scene.provider.refreshes == 2)
            #expect(try await scene.silent().text("accessToken") == third)
            #expect(scene.provider.refreshes == 2)
        }
    }

    @Test("with a wrong clock a token is not returned as valid, and no account is signed out")
    func wrong() async throws {
        try await withTestBed { bed in
            let clock = try await MovedClock(in: bed)
            let scene = try await scene(clock, in: bed)
            _ = try await scene.signIn()
            try clock.set(to: 24 * Self.hours)
            // The ID token of the response has expired by this clock.
            _ = await #expect(throws: Refusal.self) { try await scene.silent() }
            try clock.set(to: 0)
            try await eventually("a token is there again") {
                (try? await scene.silent())?["accessToken"] != nil
            }
        }
    }

    @Test("with a clock a year behind, the error names the clock and does not ask for a sign-in")
    func yearBack() async throws {
        try await withTestBed { bed in
            let clock = try await MovedClock(in: bed)
            let scene = try await scene(clock, in: bed)
            let token = try await scene.signIn().accessToken
            try clock.set(to: -365 * 24 * Self.hours)
            for _ in 0..<2 {
                let refusal = await #expect(throws: Refusal.self) { try await scene.silent() }
                let text = "\(try #require(refusal))"
                #expect(text.contains("this machine's clock") && !text.contains("interactionRequired"), "\(text)")
                #expect(!text.lowercased().contains("sign in"), "\(text)")
            }
            try clock.set(to: 0)
            try await eventually("a token is there again") { (try? await scene.silent()) != nil }
            #expect(!token.isEmpty)
        }
    }

    @Test("after eight hours of sleep nothing is sent unasked, and fifty callers cause one refresh")
    func suspend() async throws {
        try await withTestBed { bed in
            let clock = try await MovedClock(in: bed)
            let scene = try await scene(clock, in: bed, "[cache]\nrefresh_share = 50\n")
            let first = try await scene.signIn().accessToken
            let connection = try await scene.broker.connect()
            let waiting = Task {
                try await connection.call(
                    "token.acquireInteractive",
                    ["app": "notes", "scopes": [.string(DevelopmentScene.scope)], "prompt": "login", "timeout": 600])
            }
            while let message = await connection.nextNotification(), message["method"] != "interaction.open" {}

            try clock.sleep(for: 8 * Self.hours)
            scene.provider.advanceClock(by: Int(8 * Self.hours))
            await expectRefusal("timedOut") { try await waiting.value }
            #expect(scene.provider.refreshes == 0)

            let tokens = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<50 { group.addTask { try await scene.silent().text("accessToken") } }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(tokens.count == 1 && !tokens.contains(first) && scene.provider.refreshes == 1)
            await connection.close()
        }
    }

    @Test("the time of a sleep counts as idle, and the broker locks itself")
    func idle() async throws {
        try await withTestBed { bed in
            let clock = try await MovedClock(in: bed)
            let broker = try await BrokerProcess.start(in: bed) {
                $0.wrapper = clock.wrapper
                $0.configuration = "[lock]\nafter_idle = 3600\n"
            }
            #expect(try await broker.call("broker.status")["locked"] == false)
            try clock.sleep(for: 2 * Self.hours)
            let log = broker.process
            try await eventually("it has locked itself") { log.logTail.contains("locked") }
            #expect(try await broker.call("broker.status")["locked"] == true)
        }
    }
}
