import BrokerRPC
import BrokerValues

/// Why a call failed.
///
/// An app must handle three codes, as with MSAL: ``Code/interactionRequired`` (call
/// ``PublicClientApplication/acquireToken(with:)``), ``Code/serverDeclinedScopes`` and ``Code/userCanceled``. For
/// the others it is enough to show ``message``, which is one sentence for a person and says what to do next.
///
/// No error carries a token, an authorization code or a password, so that errors may be logged as they are. They may
/// name the account (`accounts`).
public struct BrokerClientError: Error, Sendable {
    /// The kind of error. The set is open: a newer broker may send codes that are not listed here.
    public struct Code: RawRepresentable, Sendable, Hashable {
        /// The name that the protocol uses.
        public let rawValue: String

        /// A code by its name in the protocol.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The kind of error.
    public var code: Code
    /// One sentence for a person: what happened, and what to do next.
    public var message: String
    /// The cause behind the code, for example `refreshTokenExpired` or `consentRequired`.
    public var reason: String? { rpc?.data?.reason?.rawValue }
    /// Whether the same call may succeed later without any user action.
    public var isRetryable: Bool
    /// The id under which the broker and the provider logged the request.
    public var correlationId: String? { details?.correlationID }
    /// The `error` of the provider's response (RFC 6749, section 5.2), if there was one.
    public var oauthError: String? { details?.oauthError }
    /// The provider's finer code, if it sends one (Entra's `suberror`).
    public var subError: String? { details?.subError }
    /// The provider's numbers for the error (Entra's `error_codes`): `53003` is a conditional access policy.
    public var oauthErrorCodes: [Int] { details?.errorCodes?.map { Int($0) } ?? [] }
    /// The provider's own description of the error; not meant for end users.
    public var oauthErrorDescription: String? { details?.description }
    /// With ``Code/interactionRequired`` and the reason `claimsChallenge`: the claims that the sign-in must request, for
    /// ``InteractiveTokenParameters/claimsRequest``.
    public var claimsChallenge: String? { details?.claims }
    /// HTTP status of the provider's response.
    public var httpStatus: Int? { details?.httpStatus }
    /// Seconds after which a new attempt is worthwhile.
    public var retryAfter: Int? { details?.retryAfter }
    /// With ``Code/serverDeclinedScopes``: the granted scopes. A silent request for these succeeds.
    public var grantedScopes: [String]? { details?.grantedScopes }
    /// With ``Code/serverDeclinedScopes``: the requested scopes that were not granted.
    public var declinedScopes: [String]? { details?.declinedScopes }
    /// With ``Code/ambiguousAccount``: the accounts to choose from. With ``Code/interactionRequired`` and
    /// ``Code/serverDeclinedScopes``: the account concerned, if it is known.
    public var accounts: [Account]? { details?.accounts?.map(Account.init) }
    /// With ``Code/grantRequired``: the argument for `brokerctl grants approve`.
    public var grantRequest: String? { details?.grantRequest }
    /// The account of the requested token, if it is exactly one: for the request that follows.
    public var account: Account? { code != .ambiguousAccount && accounts?.count == 1 ? accounts?.first : nil }
    /// The underlying error if this side failed: the errno of a system call, in words.
    public var cause: (any Error)?
    /// The error as the broker sent it; `nil` if this side failed.
    package var rpc: RPCError?

    private var details: BrokerError.Details? { rpc?.data?.details }

    package init(_ code: Code, _ message: String, isRetryable: Bool = false, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.isRetryable = isRetryable
        self.cause = cause
    }
}

extension BrokerClientError.Code {
    /// No token without the person: call ``PublicClientApplication/acquireToken(with:)``.
    public static let interactionRequired = Self(.interactionRequired)
    /// The provider granted less than requested; see ``BrokerClientError/grantedScopes``.
    public static let serverDeclinedScopes = Self(.serverDeclinedScopes)
    /// The person closed or denied the sign-in.
    public static let userCanceled = Self(.userCanceled)
    /// The sign-in was not finished in time, or the provider did not answer in time.
    public static let timedOut = Self(.timedOut)
    /// The provider cannot be reached. Never reported as ``interactionRequired``.
    public static let offline = Self(.offline)
    /// The provider or the broker cannot serve now; see ``BrokerClientError/retryAfter``.
    public static let serverUnavailable = Self(.serverUnavailable)
    /// The provider asked to slow down; see ``BrokerClientError/retryAfter``.
    public static let throttled = Self(.throttled)
    /// The broker does not serve this caller, or not this app.
    public static let accessDenied = Self(.accessDenied)
    /// The person must first grant this program the use of the app's accounts.
    public static let grantRequired = Self(.grantRequired)
    /// The broker's key is locked; nothing can be read before it is unlocked.
    public static let locked = Self(.locked)
    /// This app has no such account.
    public static let accountNotFound = Self(.accountNotFound)
    /// Several accounts match; name one. See ``BrokerClientError/accounts``.
    public static let ambiguousAccount = Self(.ambiguousAccount)
    /// No app of that name is registered.
    public static let appNotFound = Self(.appNotFound)
    /// A parameter is missing, malformed or not allowed; the message names it.
    public static let invalidParameter = Self(.invalidParameter)
    /// The authority is not an issuer the broker can use.
    public static let invalidAuthority = Self(.invalidAuthority)
    /// The provider does not accept the client id (or its secret).
    public static let invalidClient = Self(.invalidClient)
    /// The provider does not know a scope, or the client may not ask for it.
    public static let invalidScope = Self(.invalidScope)
    /// The provider does not allow this client to use this grant type.
    public static let unauthorizedClient = Self(.unauthorizedClient)
    /// The response of the provider or the broker is invalid.
    public static let invalidResponse = Self(.invalidResponse)
    /// The person who signed in does not own the requested account.
    public static let mismatchedUser = Self(.mismatchedUser)
    /// The broker or the provider does not support this.
    public static let unsupported = Self(.unsupported)
    /// An internal error of the broker; its log has the correlation id.
    public static let `internal` = Self(.internal)

    /// No broker answers on the socket (MSAL: `brokerNotAvailable`).
    public static let brokerNotAvailable = Self(rawValue: "brokerNotAvailable")
    /// The socket belongs to another user: nothing was sent.
    public static let brokerNotTrusted = Self(rawValue: "brokerNotTrusted")
    /// The broker went away before it answered; whether it acted on the request is not known.
    public static let connectionLost = Self(rawValue: "connectionLost")
    /// No browser could be opened for the sign-in.
    public static let browserNotAvailable = Self(rawValue: "browserNotAvailable")
    /// The task that made the call was cancelled.
    public static let canceled = Self(rawValue: "canceled")

    private init(_ kind: ErrorKind) { self.init(rawValue: kind.rawValue) }
}

extension BrokerClientError: CustomStringConvertible {
    /// Code, reason and message.
    public var description: String {
        "\(code.rawValue)\(reason.map { "/\($0)" } ?? ""): \(message)"
    }
}
