import BrokerClient
import BrokerRPC
import BrokerValues

/// For which app a token is wanted, and for what.
struct RequestedApp {
    var app: String?
    var clientID: String?
    /// The client id's issuer, or another one than the app's for this request.
    var authority: String?
    /// One or several in each, as people write them.
    var scopes: [String] = []

    /// The app itself, without another authority for this request.
    var reference: AppReference? {
        if let app { return .registered(app) }
        guard let clientID, let authority else { return nil }
        return .adHoc(clientID: clientID, authority: authority)
    }

    /// What a person types to sign in to this.
    var words: [String] {
        var words: [String] = []
        if let app { words += ["--app", app] }
        if let clientID { words += ["--client-id", clientID] }
        if let authority { words += ["--authority", authority] }
        return words + scopes.flatMap { ["--scope", $0] }
    }

    /// Puts app, authority and scopes into a request.
    func fill(_ params: inout some TokenParams, on connection: DirectConnection) throws(BrokerClientError) {
        params.selection.app = app
        params.selection.clientId = clientID
        params.selection.authority = authority
        try params.ask(for: scopes, orThoseOf: app, on: connection)
    }
}

extension TokenParams {
    /// - Parameters:
    ///   - scopes: one or several in each, as people write them.
    ///   - app: a registered app, whose own scopes are asked for where none are given.
    mutating func ask(
        for scopes: [String], orThoseOf app: String?, on connection: DirectConnection
    ) throws(BrokerClientError) {
        self.scopes = scopes.flatMap { $0.split(separator: " ").map(String.init) }
        guard self.scopes.isEmpty, let app else { return }
        let apps = try connection.call(ListApps.self, .init()).apps
        self.scopes = apps.first { $0.name == app }?.scopes ?? []
    }
}
