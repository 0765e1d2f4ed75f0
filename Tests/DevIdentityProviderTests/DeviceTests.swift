import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Testing

@Suite("Signing in a device at the development provider (RFC 8628)")
struct DeviceTests {
    private func begin(_ scene: ProviderScene, _ more: [String: String] = [:]) async throws -> JSONObject {
        let fields = ["client_id": "demo-one", "scope": "openid profile offline_access"]
        let reply = try await scene.ask("/device_authorization", fields.merging(more) { $1 })
        #expect(reply.status == 200)
        return try reply.json().objectValue ?? [:]
    }

    private func poll(_ scene: ProviderScene, _ begun: JSONObject, client: String = "demo-one") async throws
        -> HTTPReply
    {
        try await scene.ask(
            "/token",
            [
                "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "client_id": client,
                "device_code": begun["device_code"]?.stringValue ?? "",
            ])
    }

    /// Goes through the provider's pages; `decision` is the button on the last one.
    private func visit(_ scene: ProviderScene, _ url: String, code: String, decision: String) async throws -> String {
        var (url, body, method) = (url, HTTPSession.Body?.none, "GET")
        for _ in 0..<6 {
            let reply = try await scene.browser.send(method, url, body: body)
            guard var form = Form(page: reply.text) else { return reply.text }
            if form.fields["user_code"] != nil {
                form.fields["user_code"] = code
            } else if form.fields["password"] != nil {
                form.fields["username"] = "alice"
                form.fields["password"] = "alice-pw-1"
            } else {
                #expect(reply.text.contains(code.uppercased()), "The page shows the code to compare.")
                form.fields["decision"] = decision
            }
            let fields = form.fields.map { (name: $0.key, value: $0.value) } + form.checked
            (method, url, body) = ("POST", form.action, .form(fields))
        }
        throw ProcessFailure("The pages did not come to an end.")
    }

    private let patient = { (options: inout ProviderOptions) in options.policy.devicePollInterval = 0 }

    @Test("after a person types the code, signs in and agrees, the device gets its tokens once")
    func approved() async throws {
        try await withProvider(patient) { scene async throws in
            let begun = try await begin(scene)
            #expect(begun["interval"] == 0)
            #expect(try await poll(scene, begun).oauthError == "authorization_pending")
            let code = try #require(begun["user_code"]?.stringValue)
            let page = begun["verification_uri"]?.stringValue ?? ""
            let last = try await visit(scene, page, code: code.lowercased(), decision: "allow")
            #expect(last.contains("connected"))
            let answer = try #require(try await poll(scene, begun).json().objectValue)
            #expect(try claims(of: answer["id_token"]?.stringValue)["preferred_username"] == "alice")
            #expect(try await scene.userInfoStatus(answer["access_token"]?.stringValue) == 200)
            #expect(try await scene.refresh(answer["refresh_token"]?.stringValue).status == 200)
            #expect(try await poll(scene, begun).oauthError == "invalid_grant")
        }
    }

    @Test("the complete URL needs no typing, but still asks")
    func complete() async throws {
        try await withProvider(patient) { scene async throws in
            let begun = try await begin(scene)
            let url = try #require(begun["verification_uri_complete"]?.stringValue)
            let code = try #require(begun["user_code"]?.stringValue)
            _ = try await visit(scene, url, code: code, decision: "deny")
            #expect(try await poll(scene, begun).oauthError == "access_denied")
        }
    }

    @Test("a client that polls too fast gets slow_down, and the interval grows")
    func slowDown() async throws {
        // Its clock moves only by the test, however long the polls take.
        try await withProvider({
            $0.policy.devicePollInterval = 5
            $0.now = { 1_800_000_000 }
        }) { scene async throws in
            let begun = try await begin(scene)
            #expect(begun["interval"] == 5)
            #expect(try await poll(scene, begun).oauthError == "authorization_pending")
            #expect(try await poll(scene, begun).oauthError == "slow_down")
            scene.provider.advanceClock(by: 6)
            #expect(try await poll(scene, begun).oauthError == "slow_down")
            scene.provider.advanceClock(by: 60)
            #expect(try await poll(scene, begun).oauthError == "authorization_pending")
        }
    }

    @Test("a code that has expired, is another client's, or is wrong yields nothing")
    func expired() async throws {
        try await withProvider({
            $0.policy.deviceCodeLifetime = 30
            $0.policy.devicePollInterval = 0
        }) { scene async throws in
            let begun = try await begin(scene)
            #expect(try await poll(scene, begun, client: "demo-two").oauthError == "invalid_grant")
            scene.provider.advanceClock(by: 30)
            #expect(try await poll(scene, begun).oauthError == "expired_token")
            let page = try await scene.browser.get(begun["verification_uri_complete"]?.stringValue ?? "")
            #expect(page.text.contains("unknown, used or expired"))
        }
    }

    @Test("a test can decide without a browser")
    func control() async throws {
        try await withProvider(patient) { scene async throws in
            let control = "http://127.0.0.1:\(scene.provider.port)/control/device"
            for (decision, outcome) in [("approve", nil), ("deny", "access_denied")] as [(String, String?)] {
                let begun = try await begin(scene)
                let order: JSONObject = [
                    "userCode": begun["user_code"] ?? "", "decision": .string(decision), "username": "bob",
                ]
                let done = try await scene.browser.send("POST", control, body: .json(.object(order)))
                #expect(try done.json().objectValue?["done"] == true)
                let reply = try await poll(scene, begun)
                #expect(reply.oauthError == outcome)
                if outcome == nil {
                    let token = try reply.json().objectValue?["id_token"]?.stringValue
                    #expect(try claims(of: token)["preferred_username"] == "bob")
                }
            }
        }
    }
}
