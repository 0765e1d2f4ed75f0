import ArgumentParser
import DevIdentityProvider

struct ListeningFlags: ParsableArguments {
    @Option(help: "A loopback address: 127.0.0.1, ::1 or localhost.")
    var host = "127.0.0.1"

    @Option(help: "0 lets the kernel choose.")
    var port: UInt16 = 0

    @Option(help: ArgumentHelp("Appended to the origin to form the issuer.", valueName: "/path"))
    var issuerPath = ""

    @Flag(help: "End when standard input ends.")
    var stopWithInput = false

    func apply(to options: inout ProviderOptions) {
        options.host = host
        options.port = port
        options.issuerPath = issuerPath
    }
}

struct PartyFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp("One more person.", valueName: "name:password[:full name]"),
        transform: ProviderUser.init(flag:))
    var user: [ProviderUser] = []

    @Option(
        help: ArgumentHelp("One more client, public without a secret.", valueName: "id[:secret]"),
        transform: ProviderClient.init(flag:))
    var client: [ProviderClient] = []

    @Option(help: "One more redirect URI, also for signing out, of every client.")
    var redirectURI: [String] = []

    @Flag(help: "Take any client id, as a public client with loopback redirects.")
    var anyClient = false

    @Option(help: "One more scope that may be requested.")
    var scope: [String] = []

    @Option(help: "A scope that may be requested and is never granted.")
    var declineScope: [String] = []

    @Option(help: "A scope that is published and refused, such as offline_access.")
    var refuseScope: [String] = []

    @Flag(help: "Ask people for their consent.")
    var consent = false

    func apply(to options: inout ProviderOptions) {
        options.users += user
        options.clients += client
        for index in options.clients.indices {
            options.clients[index].redirectURIs += redirectURI
            options.clients[index].postLogoutRedirectURIs += redirectURI
        }
        options.allowsAnyClient = anyClient
        options.scopes.formUnion(scope + declineScope)
        options.declinedScopes = Set(declineScope)
        options.refusedScopes = Set(refuseScope)
        options.asksConsent = consent
    }
}

struct ExchangeFlags: ParsableArguments {
    @Option(help: "Seconds that a device code lives.") var deviceCodeLifetime = TokenPolicy().deviceCodeLifetime
    @Option(help: "Seconds between two polls of a device.") var deviceInterval = TokenPolicy().devicePollInterval
    @Flag(help: "Return no URL that already contains the device's code.") var noVerificationURIComplete = false

    @Flag(help: "Refuse authorization requests that were not pushed (RFC 9126).") var requirePAR = false
    @Flag(help: "Refuse token requests without a DPoP proof (RFC 9449).") var requireDPoP = false
    @Flag(help: "Refuse DPoP proofs without a nonce of this provider.") var dpopNonce = false
    @Flag(help: "Bind refresh tokens to the key of a DPoP proof, and no access tokens.") var dpopRefreshOnly = false

    @Flag(help: "Clients cannot register themselves (RFC 7591).") var noRegistration = false
    @Option(help: "Registering a client needs this token.") var registrationToken: String?

    func apply(to options: inout ProviderOptions) {
        options.policy.deviceCodeLifetime = deviceCodeLifetime
        options.policy.devicePollInterval = deviceInterval
        options.givesCompleteVerificationURI = !noVerificationURIComplete
        options.policy.requiresPushedAuthorization = requirePAR
        options.policy.requiresProof = requireDPoP
        options.policy.requiresProofNonce = dpopNonce
        options.policy.bindsRefreshTokensOnly = dpopRefreshOnly
        options.allowsRegistration = !noRegistration
        options.initialAccessToken = registrationToken
    }
}

enum FlavorName: String, CaseIterable, ExpressibleByArgument {
    case openid
    case entra
}

struct FlavorFlags: ParsableArguments {
    @Option(help: "openid, or entra for Microsoft Entra's v2.0 endpoints with tenants.")
    var flavor = FlavorName.openid

    @Option(help: ArgumentHelp("A client of Entra's family: its refresh tokens serve the others.", valueName: "id"))
    var familyClient: [String] = []

    @Option(help: "Seconds for refresh_in in Entra's answers; 0 leaves it out.")
    var refreshIn = TokenPolicy().refreshIn

    @Option(help: "Seconds for ext_expires_in in Entra's answers; 0 makes it equal to expires_in.")
    var extendedLifetime = TokenPolicy().extendedLifetime

    @Option(help: "A host name for clients that send instance_aware, instead of this provider's own.")
    var cloudHost: String?

    @Option(
        help: ArgumentHelp(
            "A person whose home is another cloud, at a second provider of this kind.", valueName: "name=origin"))
    var otherCloud: [String] = []

    func validate() throws {
        guard otherCloud.allSatisfy({ $0.split(separator: "=", maxSplits: 1).count == 2 }) else {
            throw ValidationError("--other-cloud takes NAME=ORIGIN.")
        }
    }

    /// Applied before the other flags, which may change a flavor's defaults.
    func apply(to options: inout ProviderOptions) {
        guard flavor == .entra else { return }
        var directory = EntraDirectory()
        directory.cloudInstanceHost = cloudHost
        for one in otherCloud {
            let parts = one.split(separator: "=", maxSplits: 1).map(String.init)
            if parts.count == 2 { directory.otherClouds[parts[0]] = parts[1] }
        }
        options = .entra(directory)
        options.policy.refreshIn = refreshIn
        options.policy.extendedLifetime = extendedLifetime
    }

    /// Applied after the flags that add clients.
    func applyFamily(to options: inout ProviderOptions) {
        for index in options.clients.indices where familyClient.contains(options.clients[index].id) {
            options.clients[index].isFamilyMember = true
        }
    }
}

struct TokenFlags: ParsableArguments {
    @Option(help: "Seconds.") var accessTokenLifetime = TokenPolicy().accessTokenLifetime
    @Option(help: "Seconds.") var idTokenLifetime = TokenPolicy().idTokenLifetime
    @Option(help: "Seconds.") var refreshTokenLifetime = TokenPolicy().refreshTokenLifetime
    @Option(help: "Seconds.") var codeLifetime = TokenPolicy().codeLifetime

    @Flag(help: "Issue no refresh tokens.") var noRefreshTokens = false
    @Flag(help: "Let a refresh token serve until it expires.") var noRotation = false
    @Option(help: "Seconds for which a used refresh token still works; with Entra it always does.") var grace: Int?
    @Flag(help: "Signing out at the provider ends the refresh tokens of that browser.") var logoutEndsRefreshTokens =
        false

    @Option(help: "opaque or jwt (RFC 9068); Entra's are JWTs.") var accessTokens: AccessTokenFormat?
    @Option(help: "RS256 or ES256.") var idTokenAlgorithm = SigningAlgorithm.rs256

    func apply(to options: inout ProviderOptions) {
        options.policy.accessTokenLifetime = accessTokenLifetime
        options.policy.idTokenLifetime = idTokenLifetime
        options.policy.refreshTokenLifetime = refreshTokenLifetime
        options.policy.codeLifetime = codeLifetime
        options.policy.issuesRefreshTokens = !noRefreshTokens
        options.policy.rotatesRefreshTokens = !noRotation
        if let grace { options.policy.reuseGrace = grace }
        options.policy.logoutEndsRefreshTokens = logoutEndsRefreshTokens
        if let accessTokens { options.accessTokenFormat = accessTokens }
        options.idTokenAlgorithm = idTokenAlgorithm
    }
}

struct FaultFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "For example token:status,status=503,retryAfter=2,times=3; times=0 applies forever.",
            valueName: "endpoint:kind[,field=value…]"),
        transform: Fault.init(order:))
    var fault: [Fault] = []
}

extension AccessTokenFormat: ExpressibleByArgument {}
extension SigningAlgorithm: ExpressibleByArgument {}

extension ProviderUser {
    /// `NAME:PASSWORD[:FULL NAME]`.
    init(flag: String) throws {
        let parts = flag.split(separator: ":", maxSplits: 2).map(String.init)
        guard parts.count >= 2 else { throw ValidationError("A user is NAME:PASSWORD[:FULL NAME].") }
        self.init(username: parts[0], password: parts[1], name: parts.count > 2 ? parts[2] : nil)
    }
}

extension ProviderClient {
    /// `ID[:SECRET]`.
    init(flag: String) throws {
        let parts = flag.split(separator: ":", maxSplits: 1).map(String.init)
        guard let id = parts.first else { throw ValidationError("A client is ID or ID:SECRET.") }
        self.init(id: id, secret: parts.count > 1 ? parts[1] : nil)
    }
}
