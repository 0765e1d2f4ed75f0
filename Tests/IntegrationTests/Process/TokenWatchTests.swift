import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

@Suite("Watches of tokens at a real broker")
struct TokenWatchTests {
    /// The next event of a watch.
    private func next(_ connection: WireConnection, _ name: String) async throws -> JSONObject {
        let message = try #require(await connection.nextNotification(), "the connection has ended")
        try #require(message["method"]?.stringValue == name, "\(message.keys)")
        return message["params"]?.objectValue ?? [:]
    }

    @Test("tokens with a lifetime of four seconds are replaced before they expire, while they are watched")
    func shortLives() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.signedIn(in: bed, policy: { $0.accessTokenLifetime = 4 })
            let (one, other) = (try await scene.broker.connect(), try await scene.broker.connect())
            var asked = DevelopmentScene.notes
            asked["minimumLifetime"] = 2
            var tokens = [try await one.call("token.watch", asked).text("accessToken")]
            _ = try await other.call("token.watch", asked)
            for _ in 0..<2 {
                let token = try await next(one, "event.tokenChanged")["token"]?.objectValue ?? [:]
                tokens.append(token.text("accessToken"))
                #expect(token["account"]?.objectValue?["username"] == "alice")
            }
            #expect(Set(tokens).count == 3)
            // The other watcher got the same one.
            #expect(try await next(other, "event.tokenChanged").text("token.accessToken") == tokens[1])
            await one.close()
            await other.close()
        }
    }

    @Test("a watch ends after a sign-out and after a lock, with the error of a silent request")
    func over() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.signedIn(in: bed)
            let connection = try await scene.broker.connect()
            _ = try await connection.call("token.watch", DevelopmentScene.notes)
            _ = try await scene.broker.call("broker.lock")
            let locked = try await next(connection, "event.tokenEnded")
            #expect(locked[path: "error.data.kind"] == "locked" && locked[path: "error.code"] == -32000)
            _ = try await scene.broker.call("broker.unlock")
            let name = try await connection.call("token.watch", DevelopmentScene.notes).text("watch")
            _ = try await scene.broker.call(
                "accounts.signOut", ["app": "notes", "account": ["username": "alice"]])
            let ended = try await next(connection, "event.tokenEnded")
            #expect(ended["watch"]?.stringValue == name)
            #expect(ended[path: "error.data.kind"] == "interactionRequired")
            #expect(ended[path: "error.data.reason"] == "signedOut")
            await connection.close()
        }
    }

    @Test("a sandbox with a grant for an app watches it by its own socket, until the grant is revoked")
    func revoked() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.signedIn(in: bed)
            let path = try await scene.broker.call("sandboxes.open", ["engine": "podman", "id": "box"]).text("path")
            let inside = try await WireConnection.connect(to: path)
            let refusal = await #expect(throws: Refusal.self) {
                try await inside.call("token.watch", DevelopmentScene.notes)
            }
            let request = try #require(refusal?.data["grantRequest"])
            let grant = try await scene.broker.call("grants.approve", ["request": request])[path: "grant.id"]
            _ = try await inside.call("token.watch", DevelopmentScene.notes)
            _ = try await scene.broker.call("grants.revoke", ["id": grant])
            #expect(try await next(inside, "event.tokenEnded")[path: "error.data.kind"] == "accessDenied")
            let lists = try await scene.broker.call("grants.list")
            #expect(lists["requests"]?.arrayValue == [])
            await inside.close()
        }
    }
}
