import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

@Suite("A network that disconnects and returns", .serialized, .needsRoot)
struct NetworkTests {
    /// A broker in a separate network, in which a relay reaches the provider.
    private struct Island {
        let scene: DevelopmentScene
        private let enter: [String]
        private let bed: TestBed

        init(in bed: TestBed) async throws {
            self.bed = bed
            let holder = try bed.start(
                Launch("unshare", ["--net", "sh", "-c", "ip link set lo up && echo up && exec sleep 3600"]),
                as: "network")
            try await holder.waitForText("up")
            let enter = ["nsenter", "--net=/proc/\(holder.pid)/ns/net", "--"]
            self.enter = enter
            let provider = try await DevelopmentScene.startProvider(in: bed)
            let bridge = bed.path("bridge")
            _ = try bed.start(
                Launch("socat", ["UNIX-LISTEN:\(bridge),fork", "TCP:127.0.0.1:\(provider.port)"]), as: "outside")
            let inside = ["socat", "TCP-LISTEN:\(provider.port),bind=127.0.0.1,fork", "UNIX-CONNECT:\(bridge)"]
            _ = try bed.start(Launch(enter[0], enter.dropFirst() + inside), as: "inside")
            let broker = try await BrokerProcess.start(in: bed) {
                $0.wrapper = enter
                $0.configuration = "[oauth]\nconnect_timeout = 1\n"
            }
            scene = DevelopmentScene(provider: provider, broker: broker, bed: bed)
            try await scene.register("notes")
        }

        /// The redirect's listener is on the island, too: the URL is passed in.
        func signIn() async throws -> String {
            let scene = scene
            return try await scene.broker.interact(app: "notes", scopes: [DevelopmentScene.scope]) { url in
                let redirect = try await scene.provider.signIn(.alice, at: url, in: bed)
                _ = try await scene.broker.call("interaction.complete", ["url": .string(redirect.url)])
                return nil
            }.accessToken
        }

        func set(_ state: String) async throws {
            let words = enter + ["ip", "link", "set", "lo", state]
            let result = try await bed.run(Launch(words[0], Array(words.dropFirst())))
            try #require(result.succeeded, "\(result)")
        }
    }

    @Test(
        "without network cached tokens are served, others are offline, and later one request suffices")
    func lossAndReturn() async throws {
        try await withTestBed { bed in
            let island = try await Island(in: bed)
            let scene = island.scene
            try await eventually("the relay listens") { (try? await island.signIn()) != nil }
            let first = try await scene.silent().text("accessToken")
            scene.provider.clearLog()

            try await island.set("down")
            #expect(try await scene.silent().text("accessToken") == first)
            // A kept connection does not notice that the network is gone.
            let lost = await #expect(throws: Refusal.self) { try await scene.silent(["forceRefresh": true]) }
            #expect(lost?.kind == "offline" || lost?.kind == "serverUnavailable", "\(String(describing: lost))")
            for _ in 0..<5 {
                let refusal = await expectRefusal("offline") { try await scene.silent(["forceRefresh": true]) }
                #expect(refusal?.data["retryable"] == true)
            }
            #expect(try await scene.silent().text("accessToken") == first)
            #expect(scene.provider.log.isEmpty)

            try await island.set("up")
            let tokens = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<20 {
                    group.addTask { try await scene.silent(["forceRefresh": true]).text("accessToken") }
                }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(!tokens.contains(first))
            // Requests during an attempt join it; none is sent for earlier failures.
            #expect(scene.provider.refreshes == tokens.count)
        }
    }
}
