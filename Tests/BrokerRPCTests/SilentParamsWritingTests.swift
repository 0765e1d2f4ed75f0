import BrokerRPC
import BrokerValues
import Testing

/// They are written without the table of their members, but must match it.
@Suite("The params of a silent request, as a client writes them")
struct SilentParamsWritingTests {
    private func written(_ params: AcquireTokenSilent.Params) -> [UInt8] {
        var writer = JSONWriter()
        params.write(to: &writer)
        return writer.bytes
    }

    private func names(_ text: [UInt8]) throws -> [String] {
        guard case .object(let members) = try JSONReader.read(text) else { return [] }
        return members.map(\.name)
    }

    /// Every member has a value of its own.
    private var full: AcquireTokenSilent.Params {
        var params = AcquireTokenSilent.Params()
        params.selection.app = "app"
        params.selection.clientId = "client"
        params.selection.authority = "https://issuer.example"
        params.query.scopes = ["one", "two"]
        params.query.isNarrow = true
        params.query.claims = #"{"access_token":{"acr":null}}"#
        params.query.tokenType = .dpop
        params.query.resources = ["https://api.example"]
        params.query.clientCapabilities = ["cp1"]
        params.query.account = .username("ada")
        params.query.minimumLifetime = 60
        params.query.instanceAware = false
        params.query.lifetimeOf = .idToken
        params.query.extraParameters = ["slice": "a\"b"]
        params.forceRefresh = true
        params.rejectedToken = "re\"jected"
        params.query.challenge = try? ResourceChallenge("Bearer scope=\"a b\"")
        params.waitForGrant = 30
        params.correlationId = "correlation"
        return params
    }

    @Test("exactly the members of the table are written, in their order")
    func all() throws {
        #expect(try names(written(full)) == AcquireTokenSilent.Params.members.map(\.name))
    }

    @Test("a broker reads by the table the params that were written")
    func read() throws {
        let text = written(full)
        let read = try AcquireTokenSilent.Params(reading: try JSONReader.read(text))
        #expect(read.selection == full.selection && read.query == full.query)
        #expect(read.forceRefresh && read.rejectedToken == full.rejectedToken)
        #expect(read.waitForGrant == 30 && read.correlationId == "correlation")
        #expect(written(read) == text)
    }

    @Test("without other values only the scopes are written, which every request must have")
    func few() throws {
        #expect(try names(written(AcquireTokenSilent.Params())) == ["scopes"])
    }
}
