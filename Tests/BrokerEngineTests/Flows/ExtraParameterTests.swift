import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("An app's own parameters beyond the browser's page")
struct ExtraParameterTests {
    private func query(_ parameters: [String: String]) -> TokenQuery {
        var query = TokenQuery(scopes: ["mail.read"])
        query.extraParameters = parameters
        return query
    }

    @Test("a refresh sends them, and a cached token answers whatever they are")
    func silent() async throws {
        let bed = try await EngineBed()
        try await bed.signIn()
        let asked = { (force: Bool) in
            bed.silent {
                $0.query = query(["dc": "north", "slice": "test"])
                $0.forceRefresh = force
            }
        }
        #expect(try await bed.engine.acquireSilent(asked(false)).fromCache)
        #expect(try await !bed.engine.acquireSilent(asked(true)).fromCache)
        #expect(bed.provider.extras.last?.parameters == ["dc": "north", "slice": "test"])
    }

    @Test("two requests that differ in them do not share a refresh")
    func flights() async throws {
        let bed = try await EngineBed()
        try await bed.signIn()
        bed.provider.refreshGate.close()
        let tasks = ["north", "south"].map { place in
            let request = bed.silent {
                $0.query = query(["dc": place])
                $0.forceRefresh = true
            }
            return Task { try await bed.engine.acquireSilent(request) }
        }
        try await bed.provider.waitForRefreshes()
        bed.provider.refreshGate.open()
        for task in tasks { _ = try await task.value }
        #expect(Set(bed.provider.extras.compactMap { $0.parameters["dc"] }) == ["north", "south"])
    }

    @Test(
        "parameters that the broker sets are refused in any spelling",
        arguments: ["scope", "Refresh_Token", "grant type", "client.assertion", "resource[]", "audience"])
    func reserved(name: String) async throws {
        let bed = try await EngineBed()
        try await bed.signIn()
        let silent = await #expect(throws: BrokerError.self) {
            try await bed.engine.acquireSilent(bed.silent { $0.query = query([name: "x"]) })
        }
        #expect(silent?.kind == .invalidParameter && silent?.message.contains(name) == true)
        let request = DeviceCodeRequest(
            partition: Sample.partition, app: Sample.app(), query: query([name: "x"]), correlationID: "c")
        let device = await #expect(throws: BrokerError.self) {
            try await bed.engine.acquireByDeviceCode(request) { _ in }
        }
        #expect(device?.kind == .invalidParameter)
        #expect(bed.provider.deviceRequests.isEmpty)
    }

    @Test("a device code request sends them, and they override the registered ones")
    func deviceCode() async throws {
        let bed = try await EngineBed()
        var app = Sample.app()
        app.description.query = ["Slice": "registered", "dc": "north"]
        let request = DeviceCodeRequest(
            partition: Sample.partition, app: app, query: query(["slice": "test"]), correlationID: "c")
        let (codes, code) = AsyncStream.makeStream(of: Void.self)
        let signIn = Task { try await bed.engine.acquireByDeviceCode(request) { _ in code.yield() } }
        for await _ in codes { break }
        signIn.cancel()
        _ = await signIn.result
        #expect(bed.provider.deviceRequests.last?.parameters == ["slice": "test", "dc": "north"])
    }

    @Test("a sign-out with reserved ones is refused before anybody is signed out")
    func signOut() async throws {
        let bed = try await EngineBed()
        try await bed.signIn()
        var request = SignOutRequest(
            partition: Sample.partition, account: .username("alice"), correlationID: "correlation-1")
        request.app = Sample.app()
        request.extraQueryParameters = ["post_logout_redirect_uri": "https://evil.example"]
        let wanted = request
        let error = await #expect(throws: BrokerError.self) { try await bed.engine.signOut(wanted) { _ in } }
        #expect(error?.kind == .invalidParameter)
        #expect(try await bed.engine.acquireSilent(bed.silent()).fromCache)
    }
}
