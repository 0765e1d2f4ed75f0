import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

/// Decision 14, against the development provider in Google's mode.
@Suite("A provider that binds refresh tokens and gives bearer tokens") struct BoundRefreshTokenTests {
    private func scene(in bed: TestBed) async throws -> DevelopmentScene {
        let scene = try await DevelopmentScene.make(in: bed) { $0.bindsRefreshTokensOnly = true }
        try await scene.register("bound", ["bindRefreshToken": true])
        return scene
    }

    @Test("the app signs in, refreshes before and after a restart, and calls an API with a bearer token")
    func lasts() async throws {
        try await withTestBed { bed in
            var scene = try await scene(in: bed)
            let first = try await scene.signIn(app: "bound")
            #expect(first.token[path: "tokenType"] == "Bearer")
            _ = try await scene.silent(app: "bound", ["forceRefresh": true])
            try await scene.restart()
            let token = try await scene.silent(app: "bound", ["forceRefresh": true])
            #expect(token[path: "fromCache"] == false)
            let answer = try await HTTPSession(in: bed).send(
                "GET", "\(scene.provider.issuer)/userinfo",
                headers: ["Authorization": "Bearer \(token.text("accessToken"))"])
            #expect(answer.status == 200, "\(answer.text)")
        }
    }

    @Test("an app that requests DPoP gets no bearer token (decision 14)")
    func askedForDPoP() async throws {
        try await withTestBed { bed in
            let scene = try await scene(in: bed)
            _ = try await scene.signIn(app: "bound")
            await expectRefusal("unsupported") {
                try await scene.silent(app: "bound", ["tokenType": "DPoP", "forceRefresh": true])
            }
            _ = try await scene.silent(app: "bound", ["forceRefresh": true])
        }
    }

    @Test("a registration stores the setting and returns it")
    func registration() async throws {
        try await withTestBed { bed in
            let scene = try await scene(in: bed)
            try await scene.register("quiet", ["offlineAccess": false])
            let apps = try await scene.broker.call("apps.list", [:])["apps"]?.arrayValue ?? []
            func app(_ name: String) -> JSONValue? { apps.first { $0["name"] == .string(name) } }
            #expect(app("bound")?["bindRefreshToken"] == true)
            #expect(app("quiet")?["offlineAccess"] == false)
        }
    }
}
