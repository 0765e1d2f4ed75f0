import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

@Suite("Sign-ins, sign-outs and grants that end at any of their steps")
struct AccountStepTests {
    /// Steps end with a kill or a power cut, and with a disk that fails once, writes half, or accepts nothing any more.
    static let faults = [
        FaultPoints.Fault.kill, .powerCut(afterNames: false), .failOnce(errno: EIO), .failFrom(errno: ENOSPC),
        .failFrom(errno: EROFS), .writeShort,
    ]

    private func accounts(_ scene: DevelopmentScene) async throws -> [JSONValue] {
        try await scene.broker.call("accounts.list")[path: "accounts"].arrayValue ?? []
    }

    private func forgetEverybody(_ scene: DevelopmentScene) async throws {
        for account in try await accounts(scene) {
            _ = try await scene.broker.call("accounts.forget", ["account": ["id": account["id"]]])
        }
    }

    /// An account is stored completely, or nothing of it. The name of a signed-out one may remain.
    private func requireWhole(_ scene: DevelopmentScene) async throws -> Bool {
        let isSignedIn = try await !accounts(scene).isEmpty
        if isSignedIn {
            try #require(try await scene.silent()[path: "fromCache"] == true)
            try #require(try await scene.silent(["forceRefresh": true])[path: "persisted"] == true)
        } else {
            let records = try await scene.broker.call("cache.stats")[path: "records"]
            for kind in ["accessTokens", "refreshTokens", "idTokens"] {
                try #require(records[kind] == 0, "\(kind): \(records)")
            }
        }
        return isSignedIn
    }

    @Test("a sign-in is stored with all of its tokens or not at all, and a reported one is stored", arguments: faults)
    func signIn(_ fault: FaultPoints.Fault) async throws {
        try await withTestBed { bed in
            var stepped = try await SteppedScene.make(in: bed) { $0.reuseGrace = 600 }
            var told: SignIn?
            let steps = try await stepped.failAtEveryStep(fault) { scene in
                try await forgetEverybody(scene)
                told = nil
            } operate: { scene in
                told = try await scene.signIn()
            } check: { scene, outcome in
                let isThere = try await requireWhole(scene)
                let people = try await scene.broker.call("cache.stats")[path: "records.accounts"]
                try #require(people == (isThere ? 1 : 0))
                if told?.token[path: "persisted"] == true { try #require(isThere, "reported as persisted") }
            }
            #expect(steps > 5)
        }
    }

    @Test("a sign-out has removed everything or nothing, and a reported one everything", arguments: faults)
    func signOut(_ fault: FaultPoints.Fault) async throws {
        try await withTestBed { bed in
            var stepped = try await SteppedScene.make(in: bed) { $0.reuseGrace = 600 }
            try await stepped.scene.signIn()
            let provider = stepped.scene.provider
            func revocations() -> Int { provider.log.count { $0.endpoint == .revoke && $0.status == 200 } }
            var (told, revoked) = (JSONObject?.none, 0)
            let steps = try await stepped.failAtEveryStep(fault) { scene in
                if try await accounts(scene).isEmpty { try await scene.signIn() }
                told = nil
            } operate: { scene in
                revoked = revocations()
                // If the disk fails, the provider is still notified, and any restored data is useless.
                told = try await scene.broker.signOut(app: "notes", ["wipe": true, "revoke": .bool(fault.isEnding)])
            } check: { scene, outcome in
                let isThere = try await requireWhole(scene)
                if told?[path: "stages.local.state"] == "done" { try #require(!isThere, "reported as signed out") }
                if told?[path: "stages.revocation.state"] == "done" {
                    try #require(revocations() > revoked, "reported as revoked")
                }
                // A signed-in account has the token that the provider still accepts.
                if isThere { try #require(revocations() == revoked) }
            }
            #expect(steps > 5)
        }
    }

    @Test("a reported grant holds, and a reported revocation as well", .needsRoot, arguments: faults)
    func grants(_ fault: FaultPoints.Fault) async throws {
        try await withTestBed { bed in
            var stepped = try await SteppedScene.make(in: bed)
            try await stepped.scene.signIn()
            func grants(_ scene: DevelopmentScene) async throws -> [JSONValue] {
                try await scene.broker.call("grants.list")[path: "grants"].arrayValue ?? []
            }
            let line = try requestLine("token.acquireSilent", DevelopmentScene.notes)
            func ask(_ scene: DevelopmentScene) async throws -> JSONObject {
                let result = try await bed.run(SandboxGrantTests.launch(scene.broker, line))
                return try JSONDecoder().decode(JSONObject.self, from: Data(result.output.utf8))
            }
            var (request, told) = ("", false)
            try await stepped.failAtEveryStep(fault) { scene in
                for grant in try await grants(scene) {
                    _ = try await scene.broker.call("grants.revoke", ["id": grant["id"]])
                }
                request = try await ask(scene).text("error.data.grantRequest")
                told = false
            } operate: { scene in
                _ = try await scene.broker.call("grants.approve", ["request": .string(request)])
                told = true
            } check: { scene, outcome in
                let found = try await grants(scene)
                if told { try #require(found.count == 1) }
                // It is complete: each listed grant gives access.
                let answer = try await ask(scene)
                try #require((answer[path: "result.fromCache"] == true) == !found.isEmpty, "\(answer)")
            }
            try await stepped.failAtEveryStep(fault) { scene in
                if try await grants(scene).isEmpty {
                    let request = try await ask(scene)[path: "error.data.grantRequest"]
                    _ = try await scene.broker.call("grants.approve", ["request": request])
                }
                told = false
            } operate: { scene in
                let id = try await grants(scene).first?["id"] ?? .null
                _ = try await scene.broker.call("grants.revoke", ["id": id])
                told = true
            } check: { scene, outcome in
                if told { try #require(try await grants(scene).isEmpty) }
            }
        }
    }
}
