import BrokerAccess
import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerValues

/// `apps.…`.
struct AppHandlers: Sendable {
    let services: ServerServices

    var all: [AnyHandler] {
        [
            .waiting(RegisterApp.self) { request throws(BrokerError) in
                let params = request.params
                var app = try registration(params, clientID: params.clientId)
                app.clientSecret = params.clientSecret.map { Secret($0) }
                app.isInstanceAware = params.instanceAware
                try await services.apps.register(app, in: request.partition)
                return RegisterApp.Result(app: App(AppRecord(app)))
            },
            .waiting(RegisterAppAtProvider.self) { request throws(BrokerError) in
                let params = request.params
                let draft = try registration(params, clientID: "")
                // What could not be kept here must not be made there.
                try services.apps.check(draft: draft)
                let made = try await services.broker.registerAtProvider(
                    draft, isConfidential: params.confidential,
                    initialAccessToken: params.initialAccessToken.map { Secret($0) })
                try await services.apps.register(made.app, in: request.partition)
                return RegisterAppAtProvider.Result(
                    app: App(AppRecord(made.app)), clientSecretExpiresOn: made.secretExpiresOn)
            },
            .waiting(ListApps.self) { request throws(BrokerError) in
                ListApps.Result(apps: try services.apps.list(in: request.partition).map { App(AppRecord($0)) })
            },
            .waiting(RemoveApp.self) { request throws(BrokerError) in
                RemoveApp.Result(
                    app: App(try await services.apps.remove(named: request.params.name, in: request.partition)))
            },
        ]
    }

    private func registration(
        _ params: some AppDescription, clientID: String
    ) throws(BrokerError) -> AppRegistration {
        AppRegistration(
            name: params.name, clientID: clientID, authority: try services.policy.authority(params.authority),
            group: params.group, scopes: params.scopes, redirectURI: params.redirectUri,
            executables: params.executables, units: params.units, sandboxIDs: params.sandboxIds)
    }
}

extension App {
    fileprivate init(_ app: AppRecord) {
        self.init()
        name = app.name
        clientId = app.clientID
        authority = app.authority
        group = app.group
        scopes = app.scopes
        redirectUri = app.redirectURI
        executables = app.executables
        units = app.units
        sandboxIds = app.sandboxIDs
        confidential = app.isConfidential
        instanceAware = app.isInstanceAware ?? false
    }
}
