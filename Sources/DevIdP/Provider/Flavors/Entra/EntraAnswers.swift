import FoundationEssentials
import Hummingbird

/// The differences between an Entra server's responses and a plain provider's.
extension EntraFlavor {
    func finish(discovery members: inout [String: JSON], of realm: Realm) {
        let origin = realm.base.dropLast(1 + (realm.tenant ?? "").count)
        let isShared = directory.tenant(realm.tenant ?? "") == nil
        // The issuer depends on the user: the client inserts the token's `tid` into it.
        members["issuer"] = .string("\(origin)/\(isShared ? "{tenantid}" : realm.tenant ?? "")/v2.0")
        members["jwks_uri"] = .string("\(origin)/common\(paths.keys)")
        members["scopes_supported"] = ["openid", "profile", "email", "offline_access"]
        members["tenant_region_scope"] = isShared ? .null : "EU"
        members["cloud_instance_name"] = "development.test"
        members["claims_supported"] = [
            "sub", "iss", "aud", "exp", "iat", "auth_time", "acr", "nonce", "preferred_username", "name", "tid", "ver",
            "at_hash", "email", "oid",
        ]
        for silent in ["prompt_values_supported", "claims_parameter_supported", "dpop_signing_alg_values_supported"] {
            members[silent] = nil
        }
    }

    func finish(answer members: inout [String: JSON], to issue: TokenIssue) {
        let lifetime = issue.policy.extendedLifetime
        members["ext_expires_in"] = lifetime == 0 ? members["expires_in"] : .integer(lifetime)
        if issue.policy.refreshIn > 0 { members["refresh_in"] = .integer(issue.policy.refreshIn) }
        if !issue.grant.scopes.contains("offline_access") { members["refresh_token"] = nil }
        if issue.client.isFamilyMember, members["refresh_token"] != nil { members["foci"] = "1" }
        guard issue.form["client_info"] == "1", let home = directory.home(of: issue.user.username) else { return }
        // Always the home tenant: it makes one account of a person who is a guest elsewhere.
        let info = ["uid": directory.objectID(of: issue.user.username, in: home), "utid": home.id]
        members["client_info"] = (try? jsonText(info)).map { .string(Data($0.utf8).base64URLText) }
    }

    func finish(deviceAnswer members: inout [String: JSON]) {
        members["verification_uri_complete"] = nil
        let (uri, code) = (members["verification_uri"]?.string ?? "", members["user_code"]?.string ?? "")
        members["message"] = .string(
            "To sign in, open the page \(uri) in a web browser and enter the code \(code) to authenticate.")
    }

    func members(of failure: OAuthFailure, correlationID: String?, time: Int) -> [String: JSON] {
        let detail = EntraFailure(failure)
        let trace = UUID().uuidString.lowercased()
        let correlation = correlationID ?? UUID().uuidString.lowercased()
        let stamp = Date(timeIntervalSince1970: Double(time)).formatted(
            .iso8601.dateTimeSeparator(.space).timeZoneSeparator(.omitted))
        let description =
            "AADSTS\(detail.number): \(failure.description) Trace ID: \(trace) Correlation ID: \(correlation) "
            + "Timestamp: \(stamp)"
        var members: [String: JSON] = [
            "error": .string(detail.error), "error_description": .string(description),
            "error_codes": [.integer(detail.number)], "timestamp": .string(stamp), "trace_id": .string(trace),
            "correlation_id": .string(correlation),
        ]
        members["suberror"] = detail.suberror.map { .string($0) }
        members["claims"] = detail.claims.map { .string($0) }
        if failure.cause == .cancelled { members["error_subcode"] = "cancel" }
        return members
    }
}

/// How Entra names a failure: the AADSTS number and, for some, a second code.
struct EntraFailure {
    var error: String
    var number: Int
    var suberror: String?
    var claims: String?

    init(_ failure: OAuthFailure) {
        error = failure.code.rawValue
        switch (failure.cause, failure.code) {
        case (.codeExpired, _): number = 70008
        case (.codeUsed, _): number = 54005
        case (.verifierMismatch, _): number = 501481
        case (.refreshTokenExpired, _): (number, suberror) = (700082, "bad_token")
        case (.refreshTokenRevoked, _): (number, suberror) = (50173, "bad_token")
        case (.clientMismatch, _): (number, suberror) = (70000, "client_mismatch")
        case (.unknownClient, _): (number, error) = (700016, "unauthorized_client")
        case (.unknownTenant, _): number = 90002
        case (.unknownInstance, _): number = 50049
        case (.notInTenant, _): number = 50020
        case (.consentMissing, _): (number, suberror) = (65001, "consent_required")
        case (.claimsMissing(let claims), _):
            (number, suberror) = (50076, "basic_action")
            self.claims = claims
        case (.cancelled, _): number = 65004
        case (.ordered(let ordered, let second), _): (number, suberror) = (ordered ?? 70000, second)
        case (.deviceDeclined, _): (number, error) = (70018, "authorization_declined")
        case (nil, .authorizationPending): number = 70016
        case (nil, .expiredToken): number = 70020
        case (nil, .invalidClient): number = 7_000_215
        case (nil, .invalidScope): number = 70011
        case (nil, .loginRequired): number = 50058
        case (nil, .consentRequired): number = 65001
        case (nil, .accountSelectionRequired): (number, error) = (16000, "interaction_required")
        case (nil, .unsupportedGrantType): number = 70003
        case (nil, .unsupportedResponseType): number = 700051
        case (nil, .invalidGrant): number = 70000
        case (nil, _): number = 900144
        }
    }
}

extension Provider {
    /// The hosts of one cloud, and the location of a tenant's metadata: for clients that do not know the host.
    func instanceDiscovery(_ context: ProviderContext) throws -> Response {
        let asked = context.form["authorization_endpoint"].flatMap { URLComponents(string: $0) }
        let host = asked?.host.map { host in asked?.port.map { "\(host):\($0)" } ?? host }
        guard let asked, isOwnHost(host) else {
            throw OAuthFailure(
                .invalidInstance, "Unknown or unsupported authorization_endpoint host.", .unknownInstance)
        }
        let tenant = asked.path.split(separator: "/").first.map(String.init) ?? "common"
        let port = origin.split(separator: ":").last.map(String.init) ?? ""
        let own = "127.0.0.1:\(port)"
        let answer: [String: JSON] = [
            "tenant_discovery_endpoint": .string("\(origin)/\(tenant)\(flavor.paths.discovery)"), "api-version": "1.1",
            "metadata": [
                [
                    "preferred_network": .string(own), "preferred_cache": .string(own),
                    "aliases": [.string(own), .string("localhost:\(port)")],
                ]
            ],
        ]
        return try json(answer)
    }
}
