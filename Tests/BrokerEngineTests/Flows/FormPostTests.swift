import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("Requests for form_post")
struct FormPostTests {
    @Test(
        "a form is requested if it is enabled, offered and the broker listens",
        arguments: [
            (true, true, nil, true), (false, true, nil, false), (true, false, nil, false),
            (true, true, "org.example.mail:/back", false),
        ] as [(Bool, Bool, String?, Bool)])
    func asked(isSet: Bool, isOffered: Bool, redirectURI: String?, expected: Bool) async throws {
        let bed = try await EngineBed()
        var settings = EngineSettings()
        settings.asksForForms = isSet
        bed.engine.apply(settings)
        bed.provider.offer { $0.offersFormPost = isOffered }
        var app = Sample.app()
        app.description.redirectURI = redirectURI
        let (browser, ending) = bed.begin(bed.interactive(app))
        _ = try await browser.opening()
        #expect(bed.provider.authorizations.last?.asksForForm == expected)
        #expect(bed.redirects.takesForms == (redirectURI == nil ? [expected] : []))
        ending.cancel()
        _ = await ending.result
    }
}
