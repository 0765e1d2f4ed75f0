import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Requests with a challenge")
struct ChallengeFlowTests {
    private static let stepUp =
        #"Bearer error="insufficient_user_authentication", acr_values="gold", max_age="300""#

    @Test("a challenge's scopes are requested in addition to the request's")
    func scopes() async throws {
        let bed = try await EngineBed()
        try await bed.signIn()
        let challenge = try ResourceChallenge(#"Bearer error="insufficient_scope", scope="mail.send""#)
        let request = bed.silent { $0.query.challenge = challenge }
        #expect(request.scopes.asGiven.contains("mail.send") && request.scopes.asGiven.contains("mail.read"))
        #expect(bed.engine.cached(request) == nil)
        // Without scopes of its own the app's usual ones apply.
        let usual = bed.silent(Sample.app(), []) { $0.query.challenge = challenge }
        #expect(usual.scopes == Sample.app().usualScopes.union(Scopes(["mail.send"])))
    }

    @Test("a challenge may contain the scopes that the broker adds itself")
    func reservedScopes() async throws {
        let bed = try await EngineBed()
        try await bed.signIn()
        let challenge = try ResourceChallenge(#"Bearer error="insufficient_scope", scope="openid mail.read profile""#)
        let token = try await bed.engine.acquireSilent(bed.silent { $0.query.challenge = challenge })
        #expect(try bed.text(token) == "at-1")
    }

    @Test("a challenge's claims go to the provider, and the cached token is no answer")
    func claims() async throws {
        let bed = try await EngineBed()
        try await bed.signIn()
        let challenge = try ResourceChallenge(#"Bearer error="insufficient_claims", claims="e30=""#)
        let token = try await bed.engine.acquireSilent(bed.silent { $0.query.challenge = challenge })
        #expect(try bed.text(token) == "at-2")
        #expect(bed.provider.extras.last?.claims == "{}")
    }

    @Test("a rejected token is replaced only if the request names it")
    func invalidToken() async throws {
        let bed = try await EngineBed()
        try await bed.signIn()
        let challenge = try ResourceChallenge(#"Bearer error="invalid_token", scope="mail.send calendar""#)
        let token = try await bed.engine.acquireSilent(bed.silent { $0.query.challenge = challenge })
        #expect(try bed.text(token) == "at-1" && bed.provider.refreshes.isEmpty)
        let other = try await bed.engine.acquireSilent(
            bed.silent {
                $0.query.challenge = challenge
                $0.rejectedToken = Secret("at-1")
            })
        #expect(try bed.text(other) == "at-2")
    }

    @Test("a step-up demand fails at once with a claims challenge that names it, and spends no token")
    func silentStepUp() async throws {
        let bed = try await EngineBed()
        try await bed.signIn()
        let request = bed.silent { $0.query.challenge = try? ResourceChallenge(Self.stepUp) }
        #expect(bed.engine.cached(request) == nil)
        let error = await #expect(throws: BrokerError.self) { try await bed.engine.acquireSilent(request) }
        #expect(error?.kind == .interactionRequired && error?.reason == .claimsChallenge)
        #expect(error?.details.claims == #"{"id_token":{"acr":{"essential":true,"values":["gold"]}}}"#)
        #expect(error?.message.contains("gold") == true && error?.message.contains("300 seconds") == true)
        #expect(error?.details.accounts?.count == 1 && bed.provider.refreshes.isEmpty)
        // A token other than the rejected one may come from the requested sign-in.
        let token = try await bed.engine.acquireSilent(
            bed.silent {
                $0.query.challenge = try? ResourceChallenge(Self.stepUp)
                $0.rejectedToken = Secret("at-0")
            })
        #expect(try bed.text(token) == "at-1")
    }

    @Test("an interactive request asks for the challenge's contexts first, and the stricter age")
    func interactiveStepUp() throws {
        var query = TokenQuery(scopes: ["mail.read"])
        query.challenge = try ResourceChallenge(Self.stepUp)
        var interaction = InteractiveQuery()
        (interaction.acrValues, interaction.maxAge) = (["silver", "gold"], 600)
        let request = InteractiveRequest(
            partition: Sample.partition, app: Sample.app(), query: query, interaction: interaction, correlationID: "c")
        #expect(request.interaction.acrValues == ["gold", "silver"] && request.interaction.maxAge == 300)
        #expect(request.query.challenge == nil)
    }

    @Test("the resource is narrowed to a registered one, and never set to another")
    func resource() throws {
        var app = Sample.app()
        app.description.resources = ["https://api.example/v1/", "https://files.example"]
        func resources(_ metadata: String, asked: [String] = []) throws -> [String] {
            var query = TokenQuery(scopes: ["mail.read"])
            query.resources = asked
            query.challenge = try ResourceChallenge(#"Bearer resource_metadata="\#(metadata)""#)
            return SilentRequest(partition: Sample.partition, app: app, query: query, correlationID: "c").query
                .resources
        }
        let wellKnown = "/.well-known/oauth-protected-resource"
        #expect(try resources("https://api.example\(wellKnown)/v1") == ["https://api.example/v1/"])
        #expect(
            try resources("https://victim.example\(wellKnown)") == ["https://api.example/v1/", "https://files.example"])
        #expect(
            try resources("https://api.example\(wellKnown)/v1", asked: ["https://files.example"]) == [
                "https://files.example"
            ])
    }

    @Test("a server that rejects every token causes one refresh a minute, counted per server")
    func refusesEverything() async throws {
        let bed = try await EngineBed()
        try await bed.signIn()
        var token = try await bed.engine.acquireSilent(bed.silent())
        for _ in 0..<20 {
            let refused = try bed.text(token)
            token = try await bed.engine.acquireSilent(bed.silent { $0.rejectedToken = Secret(refused) })
        }
        #expect(try bed.text(token) == "at-2" && token.rejected)
        #expect(bed.provider.refreshes.count == 1)
        bed.clock.advance(bySeconds: 61)
        let fresh = try await bed.engine.acquireSilent(bed.silent { $0.rejectedToken = Secret("at-2") })
        #expect(try bed.text(fresh) == "at-3" && !fresh.rejected)
    }
}
