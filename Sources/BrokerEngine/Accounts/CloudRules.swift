import BrokerModel
import BrokerValues

/// The clouds that a request may reach in addition to its authority's own (MSAL, "Clouds"). Pure.
package enum CloudRules {
    /// - Parameters:
    ///   - asked: the request's value; `nil` leaves it to the app's registration.
    ///   - app: the app that makes the request.
    /// - Returns: false if there are no clouds to choose from.
    /// - Throws: `invalidParameter` for a client with a secret: it belongs to the app's own cloud and must not be sent to another.
    package static func isInstanceAware(asked: Bool?, for app: AppRegistration) throws(BrokerError) -> Bool {
        guard asked ?? app.isInstanceAware, app.authority.rules.hasClouds else { return false }
        guard app.clientSecret == nil else {
            throw BrokerError(
                .invalidParameter,
                "\(app.name) has a client secret, which is for its own cloud only; leave out instanceAware.")
        }
        return true
    }

    /// The clouds that the app's people may be at home in, in addition to the one of its authority.
    ///
    /// An app with a client secret has none: the secret must not reach another cloud, even if another check is missing.
    package static func clouds(
        of app: AppRegistration, isInstanceAware: Bool, in table: CloudTable
    ) -> Set<String> {
        guard isInstanceAware, app.authority.rules.hasClouds, app.clientSecret == nil else { return [] }
        return table.clouds(besides: app.authority.environment)
    }

    /// Whether the app's client may have been used at an authority, regardless of the app's current registration: for ending a
    /// sign-in.
    ///
    /// - Parameter place: the authority from which an account or a token was obtained. A host without tenants may have several
    ///   issuers, distinguished by their paths; a client of one of them is unknown to the others.
    package static func reaches(_ place: Authority, from app: AppRegistration, in table: CloudTable) -> Bool {
        let own = app.authority
        guard own.kind == place.kind, own.hasTenants || own.path == place.path else {
            return false
        }
        return own.environment == place.environment
            || clouds(of: app, isInstanceAware: true, in: table).contains(place.environment)
    }

    /// The cloud that redeems a redirect's code must be the one that the redirect named (RFC 9207, section 2.4; RFC 9700, section
    /// 4.4): the code, its verifier and the client authentication must not reach any other.
    ///
    /// - Parameters:
    ///   - metadata: the metadata of the cloud that was named.
    ///   - issuer: the issuer in the redirect (`iss`).
    /// - Throws: `invalidResponse` for another cloud, and for a token endpoint on another host.
    package static func check(_ metadata: ProviderMetadata, issuer: String?) throws(BrokerError) {
        let place = metadata.authority
        if issuer == nil ? metadata.promisesIssuerInResponse : !isSame(issuer, as: metadata.issuer) {
            throw BrokerError(
                .invalidResponse,
                "Another provider answered the sign-in for the cloud \(place.environment); start it again.")
        }
        try checkHost(metadata)
    }

    /// A code or refresh token for another cloud than the app's own goes only to that cloud's own host, not to one that its
    /// metadata names.
    package static func check(_ metadata: ProviderMetadata, for app: AppRegistration) throws(BrokerError) {
        let place = metadata.authority
        guard place.rules.hasClouds, place.environment != app.authority.environment else { return }
        try checkHost(metadata)
    }

    private static func checkHost(_ metadata: ProviderMetadata) throws(BrokerError) {
        guard metadata.isTokenEndpointOwn else {
            throw BrokerError(
                .invalidResponse,
                "\(metadata.authority.environment) names a token endpoint of another host; nothing of another cloud is sent there."
            )
        }
    }

    /// Whether a refresh token may be revoked at an endpoint: the same rule for ending a sign-in.
    ///
    /// - Parameter clients: the apps that own the token.
    static func mayRevoke(at metadata: ProviderMetadata, for clients: [AppRegistration]) -> Bool {
        let place = metadata.authority
        guard place.rules.hasClouds, let endpoint = metadata.revocationEndpoint else { return true }
        return clients.contains { $0.authority.environment == place.environment } || place.isHost(of: endpoint)
    }

    private static func isSame(_ issuer: String?, as pattern: String) -> Bool {
        issuer.map { IssuerRule.isSame($0, as: pattern) } ?? false
    }
}

extension SettingsBox {
    var clouds: CloudTable { value.authorities.clouds }

    /// The clouds that the app's people may be at home in. Quick if the request allows for none: part of the hot path.
    func clouds(of request: some TokenRequest) -> Set<String> {
        guard request.isInstanceAware else { return [] }
        return CloudRules.clouds(of: request.app, isInstanceAware: true, in: clouds)
    }

    /// The clouds that the request's person may be at home in, in addition to its authority's own. An authority in another cloud
    /// than the app's is taken literally.
    func otherClouds(of request: some TokenRequest) -> Set<String> {
        guard request.isInstanceAware, request.target.environment == request.app.authority.environment else {
            return []
        }
        return clouds(of: request)
    }
}
