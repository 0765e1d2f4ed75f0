import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Parameters registered with an app for its sign-ins")
struct RegisteredParameterTests {
    private func app() -> AppRegistration {
        var app = Sample.app()
        app.description.query = ["access_type": "offline"]
        app.description.resources = ["https://api.example"]
        return app
    }

    @Test("registered resources are in the sign-in, the refresh and the token, without being requested")
    func resources() async throws {
        let (bed, app) = (try await EngineBed(), app())
        let token = try await bed.signIn("alice", app)
        #expect(token.token.record.resources == ["https://api.example"])
        #expect(bed.provider.authorizations.last?.resources == ["https://api.example"])
        #expect(bed.provider.authorizations.last?.registeredParameters == ["access_type": "offline"])
        #expect(try await bed.engine.acquireSilent(bed.silent(app)).fromCache)
        _ = try await bed.engine.acquireSilent(bed.silent(app) { $0.forceRefresh = true })
        #expect(bed.provider.extras.map(\.resources) == [["https://api.example"], ["https://api.example"]])
        _ = try await bed.engine.acquireSilent(bed.silent(app) { $0.resources = ["https://other.example"] })
        #expect(bed.provider.extras.last?.resources == ["https://other.example"])
    }

    @Test("a device code is requested with the registered resources")
    func deviceCode() async throws {
        let (bed, app) = (try await EngineBed(), app())
        let request = DeviceCodeRequest(
            partition: Sample.partition, app: app, query: TokenQuery(scopes: ["mail.read"]), correlationID: "c")
        let (codes, code) = AsyncStream.makeStream(of: Void.self)
        let signIn = Task { try await bed.engine.acquireByDeviceCode(request) { _ in code.yield() } }
        for await _ in codes { break }
        signIn.cancel()
        _ = await signIn.result
        #expect(bed.provider.deviceRequests.last?.resources == ["https://api.example"])
        #expect(bed.provider.deviceRequests.last?.parameters == ["access_type": "offline"])
    }
}
