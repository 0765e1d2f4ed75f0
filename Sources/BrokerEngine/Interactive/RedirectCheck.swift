import BrokerModel
import BrokerValues

/// Whether a redirect is the answer to a waiting sign-in (RFC 6749, sections 4.1.2 and 10.12; RFC 9207, section 2.4). Pure. Foreign
/// or unacceptable redirects change nothing: the sign-in goes on waiting for the real one (decision 20).
package enum RedirectCheck {
    package struct Expectation: Sendable {
        package var state: String
        package var issuer: String
        /// Whether the provider promises in its metadata to name itself in every answer (RFC 9207, section 3).
        package var requiresIssuer: Bool
        /// The provider's redirect URI; `nil` if only the broker's own listener can receive the answer.
        package var redirectURI: String?
        /// The clouds that a redirect may name; `nil` if the provider has none: a redirect's cloud parameters mean nothing then.
        package var clouds: CloudExpectation?

        package init(state: String, issuer: String, requiresIssuer: Bool) {
            self.state = state
            self.issuer = issuer
            self.requiresIssuer = requiresIssuer
        }
    }

    package enum Verdict: Sendable {
        case code(AuthorizationCode)
        case refused(OAuthRefusal)
        /// The code is for a cloud that is not allowed; it is sent nowhere.
        case otherCloud(named: String)
        /// The redirect is for another sign-in, or for none.
        case foreign
        /// It has the state, which anyone who saw the authorization URL knows, but is no acceptable answer.
        case unacceptable(Problem)
    }

    package enum Problem: Sendable, Equatable {
        case repeatedParameter
        case otherAddress
        /// - Parameter named: `nil` if it is not a possible issuer.
        case otherIssuer(named: String?, asked: String)
        case issuerMissing
        case neitherCodeNorError
    }

    package static func judge(_ redirect: RedirectParameters, against expected: Expectation) -> Verdict {
        guard !redirect.repeated.contains("state"), let state = redirect["state"],
            Secret(state) == Secret(expected.state)
        else { return .foreign }
        guard redirect.repeated.isEmpty else { return .unacceptable(.repeatedParameter) }
        // A provider's own redirect URI distinguishes its answers from others' (RFC 9700, section 4.4.2.2).
        if let address = redirect.address, let own = expected.redirectURI {
            guard RedirectDestination.isSame(address, as: own) else { return .unacceptable(.otherAddress) }
        }
        let cloud = expected.clouds?.cloud(named: redirect["cloud_instance_host_name"]) ?? .own
        if let issuer = redirect["iss"] {
            // Another cloud is compared with its own issuer once its metadata is available (``CloudRules``).
            guard cloud.isOther || IssuerRule.isSame(issuer, as: expected.issuer) else {
                return .unacceptable(
                    .otherIssuer(named: Authority.issuer(issuer).map { printable($0.url) }, asked: expected.issuer))
            }
        } else if expected.requiresIssuer, redirect["error"] == nil || redirect["code"] != nil {
            // An error without `iss` is accepted: a mix-up needs a code, and providers that promise to name themselves omit it when
            // they refuse (django-oauth-toolkit 3.4). Waiting on would leave the person without an answer.
            return .unacceptable(.issuerMissing)
        }
        if let error = redirect["error"], !error.isEmpty {
            return .refused(
                OAuthRefusal(
                    error: printable(error), subError: redirect["error_subcode"].map(printable),
                    description: redirect["error_description"].map(printable), status: nil))
        }
        guard let code = redirect["code"], !code.isEmpty else { return .unacceptable(.neitherCodeNorError) }
        switch cloud {
        case .own: return .code(AuthorizationCode(code: Secret(code), cloud: nil, issuer: redirect["iss"]))
        case .other(let authority):
            return .code(AuthorizationCode(code: Secret(code), cloud: authority, issuer: redirect["iss"]))
        case .stranger: return .otherCloud(named: printable(redirect["cloud_instance_host_name"] ?? ""))
        }
    }

    /// A code, and the cloud that redeems it.
    package struct AuthorizationCode: Sendable {
        package var code: Secret
        /// The cloud that redeems the code; `nil` means the one in which the sign-in was begun.
        package var cloud: Authority?
        /// The issuer that the redirect names.
        package var issuer: String?
    }

    /// The text from a browser, made safe for logs and people.
    private static func printable(_ text: String) -> String { SafeText(text, atMost: 300, .nothing).text }
}

extension RedirectCheck {
    /// The meaning of a redirect for the sign-in.
    static func answer(_ redirect: RedirectParameters, to expected: Expectation) -> RedirectMeaning<AuthorizationCode> {
        switch judge(redirect, against: expected) {
        case .foreign: return .foreign
        case .unacceptable(let why): return .unacceptable(why.sentence)
        case .code(let code): return .answer(.success(code))
        case .otherCloud(let host):
            let wasAskedFor = expected.clouds?.others.isEmpty == false
            return .answer(.failure(wasAskedFor ? unknownCloud(host) : otherCloud(host)))
        case .refused(let refusal):
            return .answer(.failure(ProviderErrors.brokerError(.refused(refusal), authorityName: expected.issuer)))
        }
    }

    private static func otherCloud(_ host: String) -> BrokerError {
        BrokerError(
            .invalidResponse,
            "The sign-in was answered for another cloud (\(host)) than the requested one; name that cloud's authority, or "
                + "make the app instance-aware.")
    }

    private static func unknownCloud(_ host: String) -> BrokerError {
        BrokerError(
            .invalidResponse,
            "The sign-in was answered for a cloud that is not known here (\(host)), and nothing was sent there; if it is "
                + "one, its administrator adds it to the provider's other_clouds.")
    }
}

extension RedirectCheck.Problem {
    /// A sentence for the person and for the app's developer.
    fileprivate var sentence: String {
        switch self {
        case .repeatedParameter: "It repeats a parameter, so that its meaning is unclear."
        case .otherAddress: "It did not come to the sign-in's redirect URI."
        case .otherIssuer(let named, let asked):
            "It did not come from the provider that was asked."
                + (named.map { " It names \($0), and \(asked) was asked." } ?? "")
        case .issuerMissing: "It does not name its provider, as the one that was asked promises to."
        case .neitherCodeNorError: "It contains neither a code nor an error."
        }
    }
}
