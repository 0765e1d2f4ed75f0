import BrokerClient
import BrokerTestSupport
import DevIdentityProvider
import Foundation

/// A development provider, a broker, and a user who follows the provider's pages.
struct GuideScene {
    let provider: RunningProvider
    let broker: BrokerProcess
    let bed: TestBed

    /// - Parameter options: the provider may be of any flavor.
    static func make(
        in bed: TestBed, _ options: ProviderOptions = ProviderOptions(),
        _ change: @Sendable (inout ProviderOptions) -> Void = { _ in }
    ) async throws -> GuideScene {
        let provider = try await DevIdentityProvider.start(options, in: bed, change)
        let broker = try await BrokerProcess.start(in: bed) {
            if options.flavor != .openID {
                $0.configuration = "[provider.\"\(provider.origin)\"]\nkind = \"entra\"\n"
            }
        }
        return GuideScene(provider: provider, broker: broker, bed: bed)
    }

    var userinfo: URL { URL(filePath: "/userinfo", relativeTo: URL(string: provider.issuer)) }

    /// The tutorial's app, without a registration at the broker.
    @MainActor func app(for person: Person = .alice, authority: String? = nil) throws -> TutorialApp {
        var configuration = PublicClientApplicationConfig(
            clientId: "demo-one", authority: authority ?? provider.issuer)
        configuration.socketPath = broker.socket
        return try app(configuration, for: person)
    }

    @MainActor func app(_ configuration: PublicClientApplicationConfig, for person: Person = .alice) throws
        -> TutorialApp
    {
        let app = try TutorialApp(configuration)
        app.webviewParameters = browser(of: person)
        return app
    }

    func browser(of person: Person) -> WebviewParameters {
        let (provider, bed) = (provider, bed)
        return WebviewParameters { page in
            let redirect = try await provider.signIn(person, at: page.url, in: bed)
            _ = try await HTTPSession(in: bed).get(redirect.url)
        }
    }
}
