import BrokerModel
import BrokerValues

/// Which clouds a request may meet besides its authority's own (MSAL, "Clouds"). Pure.
package enum CloudRules {
    /// - Parameters:
    ///   - asked: what the request says; nil leaves it to the app's registration.
    ///   - app: whose people they are.
    /// - Returns: false where there are no clouds to choose from.
    /// - Throws: `invalidParameter` for a client with a secret: it is for the app's own cloud, and another would be told it.
    package static func isInstanceAware(asked: Bool?, for app: AppRegistration) throws(BrokerError) -> Bool {
        guard asked ?? app.isInstanceAware, app.authority.rules.hasClouds else { return false }
        guard app.clientSecret == nil else {
            throw BrokerError(
                .invalidParameter,
                "\(app.name) has a client secret, which is for its own cloud only; leave out instanceAware.")
        }
        return true
    }

    /// The clouds that the app's people may be at home in, besides the one of its authority.
    ///
    /// A client secret rules it out here once more: wherever the other checks stand, it must not travel.
    package static func clouds(
        of app: AppRegistration, isInstanceAware: Bool, in table: CloudTable
    ) -> Set<String> {
        guard isInstanceAware, app.authority.rules.hasClouds, app.clientSecret == nil else { return [] }
        return table.clouds(besides: app.authority.environment)
    }

    /// Whether the app's client may have been used somewhere, whatever it says now: for what ends a sign-in.
    ///
    /// - Parameter place: where an account or a token was got. A host without tenants may have several issuers, told apart
    ///   by their paths, and a client of one of them is nobody to the others.
    package static func reaches(_ place: Authority, from app: AppRegistration, in table: CloudTable) -> Bool {
        let own = app.authority
        guard own.kind == place.kind, own.hasTenants || own.path == place.path else {
            return false
        }
        return own.environment == place.environment
            || clouds(of: app, isInstanceAware: true, in: table).contains(place.environment)
    }

    /// Who redeems a redirect's code must be the cloud that the redirect named (RFC 9207, section 2.4; RFC 9700, section
    /// 4.4): the code, its verifier and what proves the client must reach nobody else.
    ///
    /// - Parameters:
    ///   - metadata: of the cloud that was named.
    ///   - issuer: as the redirect has it (`iss`).
    package static func check(_ metadata: ProviderMetadata, issuer: String?) throws(BrokerError) {
        let place = metadata.authority
        if issuer == nil ? metadata.promisesIssuerInResponse : !isSame(issuer, as: metadata.issuer) {
            throw BrokerError(
                .invalidResponse,
                "The sign-in was answered for the cloud \(place.environment) by somebody else; start it again.")
        }
        try checkHost(metadata)
    }

    /// Wherever a code or a refresh token goes to another cloud than the app's own, it goes to that cloud's own host, not to
    /// one that its metadata names.
    package static func check(_ metadata: ProviderMetadata, for app: AppRegistration) throws(BrokerError) {
        let place = metadata.authority
        guard place.rules.hasClouds, place.environment != app.authority.environment else { return }
        try checkHost(metadata)
    }

    private static func checkHost(_ metadata: ProviderMetadata) throws(BrokerError) {
        guard metadata.authority.isHost(of: metadata.tokenEndpoint) else {
            throw BrokerError(
                .invalidResponse,
                "\(metadata.authority.environment) names a token endpoint of another host; nothing of another cloud is sent there."
            )
        }
    }

    /// Whether a refresh token may be given back at an endpoint: the same for what ends a sign-in.
    ///
    /// - Parameter clients: apps whose token it is.
    static func mayRevoke(at metadata: ProviderMetadata, for clients: [AppRegistration]) -> Bool {
        let place = metadata.authority
        guard place.rules.hasClouds, let endpoint = metadata.revocationEndpoint else { return true }
        return clients.contains { $0.authority.environment == place.environment } || place.isHost(of: endpoint)
    }

    private static func isSame(_ issuer: String?, as pattern: String) -> Bool {
        issuer.map { IssuerRule.isSame($0, as: pattern) } ?? false
    }
}

extension EngineServices {
    var clouds: CloudTable { settings().authorities.clouds }

    /// The clouds that the app's people may be at home in. Quick where the request allows for none: part of the hot path.
    func clouds(of request: some TokenRequest) -> Set<String> {
        guard request.isInstanceAware else { return [] }
        return CloudRules.clouds(of: request.app, isInstanceAware: true, in: clouds)
    }

    /// The clouds that the request's person may be at home in, besides its authority's own. An authority in another cloud than
    /// the app's is meant as it stands.
    func otherClouds(of request: some TokenRequest) -> Set<String> {
        guard request.isInstanceAware, request.target.environment == request.app.authority.environment else {
            return []
        }
        return clouds(of: request)
    }
}
