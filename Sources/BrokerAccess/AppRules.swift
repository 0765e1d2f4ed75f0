import BrokerModel
import BrokerValues

/// The rules for registrations. Pure.
enum AppRules {
    static func check(_ app: AppRegistration) throws(BrokerError) {
        try check(app.name, field: "name", limit: 100)
        try check(app.clientID, field: "clientId", limit: 500)
        if let group = app.group { try check(group, field: "group", limit: 100) }
        if let secret = app.clientSecret { try checkSecret(secret) }
        if app.isInstanceAware { try checkClouds(app) }
        if let ceiling = app.scopeCeiling { try checkScopes(app, below: ceiling) }
        for (name, value) in app.description.query ?? [:] { try checkParameter(name, value) }
        for resource in app.description.resources ?? [] { try check(resource, field: "resources", limit: 2_048) }
        if let mailbox = app.description.mailbox { try check(mailbox, field: "mailbox", limit: 320) }
        _ = try RedirectDestination.parse(app.redirectURI)
        let lists = app.description.lists
        guard lists.count <= 256, lists.reduce(0, { $0 + $1.utf8.count }) <= 16 << 10 else {
            throw invalid("scopes", "and the lists of callers are too long; 256 entries of 16 KiB together are kept")
        }
        for path in app.executables where !path.hasPrefix("/") {
            throw invalid("executables", "must be absolute paths; \(path.prefix(200)) is not")
        }
    }

    private static func checkSecret(_ secret: Secret) throws(BrokerError) {
        guard !secret.isEmpty else { throw invalid("clientSecret", "is empty; leave it out for a public client") }
        guard secret.count <= 1_024 else { throw invalid("clientSecret", "is longer than 1024 bytes") }
    }

    private static func checkClouds(_ app: AppRegistration) throws(BrokerError) {
        guard app.authority.rules.hasClouds else {
            throw invalid("instanceAware", "is for authorities of Microsoft Entra, not for \(app.authority.url)")
        }
        guard app.clientSecret == nil else {
            throw invalid("instanceAware", "cannot go with a client secret, which is for its own cloud only")
        }
    }

    private static func checkScopes(_ app: AppRegistration, below ceiling: Scopes) throws(BrokerError) {
        let above = app.usualScopes.subtracting(ceiling)
        guard above.isEmpty else {
            throw invalid("scopes", "has \(above.parameter), which is not among allowedScopes")
        }
        let elsewhere = Scopes(app.description.resources ?? []).subtracting(ceiling)
        guard elsewhere.isEmpty else {
            throw invalid("resources", "has \(elsewhere.parameter), which is not among allowedScopes")
        }
    }

    private static func checkParameter(_ name: String, _ value: String) throws(BrokerError) {
        guard !AuthorizationRequest.reservedForRegistrations.contains(name.lowercased()) else {
            throw invalid("query", "has \(SafeText(name, atMost: 60).text), which the broker sets itself")
        }
        try check(name, field: "query", limit: 100)
        try check(value, field: "query", limit: 2_048)
    }

    private static func check(_ text: String, field: String, limit: Int) throws(BrokerError) {
        guard text.contains(where: { !$0.isWhitespace }) else { throw invalid(field, "is blank") }
        guard text.utf8.count <= limit else { throw invalid(field, "is longer than \(limit) bytes") }
        guard text.unicodeScalars.allSatisfy(\.isSafeToShow) else {
            throw invalid(field, "has control characters, or others that are not seen")
        }
    }

    private static func invalid(_ field: String, _ what: String) -> BrokerError {
        BrokerError(.invalidParameter, "\(field) \(what).")
    }
}
