import BrokerAccess
import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerValues

/// `apps.…`.
struct AppHandlers: Sendable {
    let apps: AppDirectory
    let broker: TokenBroker
    let policy: AccessPolicy

    var all: [any AnyMethodHandler] { [register, registerAtProvider, list, remove] }

    private var register: MethodHandler<RegisterApp> {
        .waiting(RegisterApp.self, outcome: { RequestOutcome.registered($1.app) }) { request throws(BrokerError) in
            let params = request.params
            let authority = try policy.authority(params.authority)
            var result = RegisterApp.Result()
            if params.checkAuthority {
                do throws(BrokerError) {
                    result.provider = try await outline(of: authority)
                } catch {
                    // A server with another's certificate exists, and is not the provider.
                    if case .untrusted? = error.cause as? ProviderError { throw error }
                    guard [.offline, .serverUnavailable].contains(error.kind) else { throw error }
                    result.unreached = error.message
                }
            }
            var app = AppRegistration(
                params.description, authority: authority,
                clientSecret: params.clientSecret.map { Secret($0) },
                isInstanceAware: params.instanceAware)
            app.secretMethod = params.tokenEndpointAuthMethod
            let registered = try await apps.register(app, overPrevious: params.previous, in: request.partition)
            result.app = App(AppRecord(registered))
            return result
        }
    }

    private var registerAtProvider: MethodHandler<RegisterAppAtProvider> {
        .waiting(RegisterAppAtProvider.self, outcome: { RequestOutcome.registered($1.app) }) {
            request throws(BrokerError) in
            let params = request.params
            let draft = AppRegistration(params.description, authority: try policy.authority(params.authority))
            // An app that cannot be stored here must not be created there.
            try apps.check(draft: draft, in: request.partition)
            if !params.replace { try apps.checkIsNew(draft, in: request.partition) }
            let made = try await apps.considering(draft.authority) { () throws(BrokerError) in
                try await broker.registerAtProvider(
                    draft, isConfidential: params.confidential,
                    initialAccessToken: params.initialAccessToken.map { Secret($0) })
            }
            let previous: AppDirectory.Previous = params.replace ? .isReplaced : .isKept
            try await apps.register(made.app, overPrevious: previous, in: request.partition)
            return RegisterAppAtProvider.Result(
                app: App(AppRecord(made.app)), clientSecretExpiresOn: made.secretExpiresOn)
        }
    }

    private var list: MethodHandler<ListApps> {
        .waiting(ListApps.self) { request throws(BrokerError) in
            ListApps.Result(
                apps: try apps.list(in: request.partition).map {
                    var app = App(AppRecord($0))
                    app.source = $0.origin
                    return app
                })
        }
    }

    private var remove: MethodHandler<RemoveApp> {
        .waiting(
            RemoveApp.self, outcome: { RequestOutcome(words: "app \($1.app.name) was removed", app: $1.app.name) }
        ) { request throws(BrokerError) in
            RemoveApp.Result(app: App(try await apps.remove(named: request.params.name, in: request.partition)))
        }
    }

    private func outline(of authority: Authority) async throws(BrokerError) -> ProviderOutline {
        let metadata = try await apps.considering(authority) { () throws(BrokerError) in
            try await broker.metadata(of: authority)
        }
        let offers = [
            ("device_authorization", metadata.deviceAuthorizationEndpoint != nil),
            ("revocation", metadata.revocationEndpoint != nil), ("end_session", metadata.endSessionEndpoint != nil),
            ("pushed_authorization_request", metadata.pushedAuthorizationRequestEndpoint != nil),
            ("registration", metadata.registrationEndpoint != nil), ("dpop", metadata.dpopAlgorithms != nil),
        ]
        return ProviderOutline(issuer: metadata.issuer, offers: offers.filter(\.1).map(\.0))
    }
}

extension RequestOutcome {
    fileprivate static func registered(_ app: App) -> RequestOutcome {
        RequestOutcome(words: "app \(app.name) was registered at \(app.authority)", app: app.name)
    }
}

extension RegisterApp.Params {
    fileprivate var previous: AppDirectory.Previous {
        if keepClientSecret { return .isReplacedKeepingSecret }
        return replace ? .isReplaced : .isKept
    }
}

extension App {
    fileprivate init(_ app: AppRecord) {
        self.init()
        description = app.description
        authority = app.authority
        confidential = app.isConfidential
        tokenEndpointAuthMethod = app.secretMethod
        instanceAware = app.isInstanceAware
    }
}
