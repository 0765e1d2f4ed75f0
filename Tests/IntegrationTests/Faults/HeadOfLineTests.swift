import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

/// A delayed request delays no other: requests of other clients are answered before it.
@Suite("Head of line", .serialized) struct HeadOfLineTests {
    /// Two providers; at one of them there are many apps.
    private struct Scene {
        var good: DevelopmentScene
        let slow: RunningProvider
        let apps: [String]

        init(in bed: TestBed, apps count: Int, options change: (inout BrokerProcess.Options) -> Void = { _ in })
            async throws
        {
            good = try await DevelopmentScene.make(in: bed, options: change)
            try await good.signIn()
            let slow = try await DevelopmentScene.startProvider(in: bed)
            apps = (0..<count).map { "slow-\($0)" }
            self.slow = slow
            for app in apps {
                try await good.broker.register(app, clientID: "demo-one", authority: slow.issuer)
                _ = try await good.broker.signIn(app: app, scopes: [DevelopmentScene.scope], in: bed) {
                    try await slow.signIn(.bob, at: $0, in: bed)
                }
            }
        }

        /// Cached answers, and refreshes at the other provider. All of them arrive while the callers of `holdingUp` wait.
        func requireOthers() async throws {
            let before = good.provider.refreshes
            for _ in 0..<100 { try #require(try await good.silent()[path: "fromCache"] == true) }
            for _ in 0..<5 { try #require(try await good.silent(["forceRefresh": true])[path: "fromCache"] == false) }
            try #require(good.provider.refreshes == before + 5)
        }

        /// Every app of the slow provider refreshes; none of them is answered before `body` has ended.
        func holdingUp(_ body: () async throws -> Void) async throws {
            slow.add(Fault(.token, .slow, delay: 0, times: 0, isHeld: true))
            let answered = Recorder<String>()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for app in apps {
                    group.addTask {
                        _ = try? await good.silent(app: app, ["forceRefresh": true])
                        answered.add(app)
                    }
                }
                let slow = slow
                try await eventually("the slow provider is asked") { slow.refreshes > 0 }
                try await body()
                #expect(answered.all.isEmpty)
                slow.removeFaults()
                try await group.waitForAll()
            }
            #expect(answered.all.count == apps.count)
        }

        /// Every app of the other provider sends requests again and again until `body` has ended, at least once, and the fault has
        /// occurred in the meantime.
        func asking(_ fault: Fault, _ body: () async throws -> Void) async throws {
            slow.add(fault)
            let (broker, slow) = (good.broker, slow)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for app in apps {
                    group.addTask {
                        var round = 0
                        while !Task.isCancelled {
                            round += 1
                            // Other claims each time: the broker itself answers a request that was just refused.
                            _ = try? await broker.acquireSilent(
                                app: app, scopes: [DevelopmentScene.scope],
                                ["claims": .string(#"{"access_token":{"round-\#(round)":null}}"#)])
                        }
                    }
                }
                try await eventually("the other provider is asked") { slow.refreshes > 0 }
                let before = slow.refreshes
                repeat { try await body() } while slow.refreshes == before
                group.cancelAll()
                try await group.waitForAll()
            }
            slow.removeFaults()
        }
    }

    @Test("a provider that hangs delays its own requests only")
    func hangingProvider() async throws {
        try await withTestBed { bed in
            let scene = try await Scene(in: bed, apps: 12)
            try await scene.holdingUp { try await scene.requireOthers() }
            try await scene.requireOthers()
        }
    }

    @Test(
        "a provider with 429, dropped connections, or large responses delays its own requests only",
        arguments: [
            Fault(.token, .status, status: 429, retryAfter: 1, times: 0), Fault(.token, .drop, times: 0),
            Fault(.token, .trickle, delay: 5, times: 0), Fault(.token, .huge, times: 0),
        ])
    func provider(_ fault: Fault) async throws {
        try await withTestBed { bed in
            let scene = try await Scene(in: bed, apps: 12)
            try await scene.asking(fault) { try await scene.requireOthers() }
            try await scene.requireOthers()
        }
    }

    @Test("a client that does not read, and one that never ends its line, delay no other")
    func client() async throws {
        try await withTestBed { bed in
            let scene = try await Scene(in: bed, apps: 0)
            let deaf = try await scene.good.broker.connectRaw()
            // The capacity between the two: the broker stops reading while its answers are not read.
            let lines = String(repeating: #"{"jsonrpc":"2.0","id":1,"method":"broker.status"}"# + "\n", count: 1000)
            var (rest, refusals) = (Array(lines.utf8)[...], 0)
            try await eventually("nothing more fits") {
                let count = try await deaf.sendSome(rest)
                rest = count < rest.count ? rest.dropFirst(count) : Array(lines.utf8)[...]
                refusals = count == 0 ? refusals + 1 : 0
                return refusals == 50
            }
            let half = try await scene.good.broker.connectRaw()
            try await half.send(Array(#"{"jsonrpc":"2.0","id":1,"#.utf8))
            try await scene.requireOthers()
            await deaf.close()
            await half.close()
        }
    }

    @Test("a disk that hangs delays writes, and no cached answer")
    func disk() async throws {
        try await withTestBed { bed in
            let state = try bed.makeDirectory("state")
            let points = try await FaultPoints.make(watching: state, in: bed)
            let scene = try await DevelopmentScene.make(
                in: bed,
                options: {
                    $0.stateDirectory = state
                    $0.wrapper = points.wrapper
                })
            let signIn = try await scene.signIn()
            try points.arm(.hang, at: 1)
            let written = Recorder<String>()
            let refresh = Task {
                let answer = try await scene.silent(["forceRefresh": true])
                written.add(answer.text("accessToken"))
            }
            try await eventually("the disk is asked") { try points.hasStruck }
            for _ in 0..<200 {
                let answer = try await scene.silent()
                try #require(answer[path: "fromCache"] == true && answer.text("accessToken") == signIn.accessToken)
            }
            #expect(written.all.isEmpty)
            try points.disarm()
            try await refresh.value
            #expect(try await scene.silent()[path: "accessToken"] == .string(written.all.first ?? ""))
        }
    }

    @Test("a name look-up that hangs delays no other request, even after its wait is given up")
    func resolver() async throws {
        try await withTestBed { bed in
            let (library, lookups) = (bed.path("resolver.so"), bed.path("lookups"))
            try await bed.require(
                "clang",
                [
                    "-shared", "-fPIC", "-DLOOKUPS=\"\(lookups)\"", "-o", library,
                    PackageTree.fixture("silent-resolver.c"),
                ])
            let scene = try await Scene(in: bed, apps: 0) {
                $0.wrapper = ["env", "LD_PRELOAD=\(library)"]
                $0.configuration = "[oauth]\nrequest_timeout = 5\n"
            }
            let broker = scene.good.broker
            for number in 0..<4 {
                try await broker.register(
                    "lost-\(number)", clientID: "c", authority: "https://login-\(number).hangs.test/")
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<4 {
                    group.addTask {
                        await #expect(throws: Refusal.self) {
                            try await broker.call(
                                "token.acquireInteractive", ["app": .string("lost-\(number)"), "scopes": ["api"]])
                        }
                    }
                }
                // A byte for each that hangs.
                try await eventually("all names are looked up") {
                    FileManager.default.contents(atPath: lookups)?.count == 4
                }
                try await scene.requireOthers()
                try await group.waitForAll()
            }
            try await scene.requireOthers()
        }
    }
}
