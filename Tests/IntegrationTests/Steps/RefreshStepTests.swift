import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

@Suite("A refresh that ends at any of its steps") struct RefreshStepTests {
    /// The initial state of a refresh and its reported result.
    private struct Tokens {
        var old = ""
        var told: JSONObject?
    }

    /// After a fault, the disk has the old token or the new one, and the saved sign-in still works; data reported as persisted
    /// is on disk. The provider accepts a refresh token again if its successor was never received.
    private func tryEveryStep(_ fault: FaultPoints.Fault, endingGently: Bool) async throws {
        try await withTestBed { bed in
            var stepped = try await SteppedScene.make(in: bed) { $0.reuseGrace = 600 }
            try await stepped.scene.signIn()
            var tokens = Tokens()
            let steps = try await stepped.failAtEveryStep(fault, endingGently: endingGently) { scene in
                tokens = Tokens(old: try await scene.silent().text("accessToken"))
            } operate: { scene in
                let answer = try await scene.silent(["forceRefresh": true])
                tokens.told = answer
                // In any state of the disk, the next caller gets the reported token.
                let next = try await scene.silent()
                try #require(next[path: "fromCache"] == true && next["accessToken"] == answer["accessToken"])
            } check: { scene, outcome in
                let found = try await scene.silent()
                try #require(found[path: "fromCache"] == true, "\(found)")
                let new = tokens.told?.text("accessToken")
                let isPersisted = tokens.told?[path: "persisted"] == true
                if isPersisted {
                    try #require(found.text("accessToken") == new, "reported as persisted")
                } else if let new {
                    try #require([tokens.old, new].contains(found.text("accessToken")))
                }
                try #require(try await scene.broker.call("accounts.list")[path: "accounts"].arrayValue?.count == 1)
                try #require(try await scene.silent(["forceRefresh": true])[path: "persisted"] == true)
                let status = try await scene.broker.call("broker.status")
                try #require(status[path: "vault.quarantined"].integerValue ?? 0 == 0, "\(status)")
            }
            #expect(steps > 5)
        }
    }

    @Test(
        "a broker that is killed at any step, or loses power, restarts with the old token or the new one",
        arguments: FaultPoints.Fault.endings)
    func killed(_ fault: FaultPoints.Fault) async throws { try await tryEveryStep(fault, endingGently: true) }

    @Test(
        "after a disk failure at any step callers get the new token, and persisted tokens are stored",
        arguments: [
            FaultPoints.Fault.failOnce(errno: EIO), .failFrom(errno: EIO), .failFrom(errno: ENOSPC),
            .failFrom(errno: EROFS), .writeShort,
        ])
    func diskFails(_ fault: FaultPoints.Fault) async throws { try await tryEveryStep(fault, endingGently: false) }

    @Test(
        "with single-use refresh tokens only the one in use is lost, and the person learns why",
        arguments: [FaultPoints.Fault.kill, .powerCut(afterNames: false), .powerCut(afterNames: true)])
    func inFlight(_ fault: FaultPoints.Fault) async throws {
        try await withTestBed { bed in
            var stepped = try await SteppedScene.make(in: bed)
            let provider = stepped.scene.provider
            var (answered, losses) = (0, 0)
            func answers() -> Int { provider.log.count { $0.grantType == "refresh_token" && $0.status == 200 } }
            try await stepped.failAtEveryStep(fault) { scene in
                // An account signed out by the last step is signed in again.
                do {
                    _ = try await scene.silent(["forceRefresh": true])
                } catch is Refusal {
                    try await scene.signIn()
                }
                answered = answers()
            } operate: { scene in
                _ = try await scene.silent(["forceRefresh": true])
            } check: { scene, outcome in
                let hadAnswered = answers() > answered
                do {
                    _ = try await scene.silent(["forceRefresh": true])
                } catch let refusal as Refusal {
                    losses += 1
                    try #require(hadAnswered && !outcome.wasReported, "a token is lost that the provider honours")
                    try #require(refusal.kind == "interactionRequired" && refusal.reason == "refreshTokenRevoked")
                    try #require(refusal.message.contains("was lost on the way"), "\(refusal)")
                }
            }
            #expect(losses > 0)
        }
    }
}
