import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

@Suite("Import of the real msal's cache", .serialized) struct ImportTests {
    @Test("brokerctl imports msal's cache, and then tokens come silently with its refresh token")
    func imported() async throws {
        try await withTestBed { bed in
            let provider = try await DevIdentityProvider.start(.entra(), in: bed)
            let msal = MSALClient(at: provider, in: bed)
            let signIn = try await msal.signIn(.alice, scopes: ["notes.read"])
            #expect(signIn["error"] == nil)

            let broker = try await BrokerProcess.start(in: bed) {
                $0.configuration = "[provider.\"\(provider.origin)\"]\nkind = \"entra\"\n"
            }
            let nobody = try await broker.ctl(["--json", "import", "msal-cache", msal.cacheFile])
            #expect(nobody.output.contains("demo-one"), "Its client is named, so that it can be registered.")
            try await broker.register("notes", clientID: "demo-one", authority: provider.authority("common"))
            let taken = try await broker.ctl(["import", "msal-cache", msal.cacheFile])
            #expect(taken.status == .exited(0), "\(taken)")
            #expect(taken.output.contains("Refresh tokens"))

            let refreshes = provider.refreshes
            let token = try await broker.acquireSilent(
                app: "notes", scopes: ["notes.read"], ["forceRefresh": true])
            #expect(token[path: "fromCache"] == false)
            #expect(token.text("account.username").contains("alice"))
            #expect(provider.refreshes == refreshes + 1)
            let again = try await broker.ctl(["--json", "import", "msal-cache", msal.cacheFile])
            #expect(again.status == .exited(0))
            let cached = try await broker.acquireSilent(app: "notes", scopes: ["notes.read"])
            #expect(cached[path: "accessToken"] == token[path: "accessToken"], "A newer token is not overwritten.")
        }
    }
}
