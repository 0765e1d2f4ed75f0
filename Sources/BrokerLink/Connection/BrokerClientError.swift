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
    /// What went wrong. The set is open: a newer broker may send codes that are not listed here.
    public struct Code: RawRepresentable, Sendable, Hashable {
        /// The name that the protocol uses.
        public let rawValue: String

        /// A code by its name in the protocol.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// What went wrong.
    public var code: Code
    /// One sentence for a person: what happened, and what to do next.
    public var message: String
    /// Which of several causes lies behind the code, for example `refreshTokenExpired` or `consentRequired`.
    public var reason: String? { rpc?.data?.reason?.rawValue }
    /// Whether the same call may succeed later without anybody doing anything.
    public var isRetryable: Bool
    /// The id under which the broker and the provider logged the request.
    public var correlationId: String? { details?.correlationID }
    /// The `error` of the provider's answer (RFC 6749, section 5.2), where there was one.
    public var oauthError: String? { details?.oauthError }
    /// The provider's finer code, where it sends one (Entra's `suberror`).
    public var subError: String? { details?.subError }
    /// The provider's numbers for the error (Entra's `error_codes`): `53003` is a conditional access policy.
    public var oauthErrorCodes: [Int] { details?.errorCodes?.map { Int($0) } ?? [] }
    /// The provider's own description of the error; not meant for end users.
    public var oauthErrorDescription: String? { details?.description }
    /// With ``Code/interactionRequired`` and the reason `claimsChallenge`: what the sign-in has to bring, for
    /// ``InteractiveTokenParameters/claimsRequest``.
    public var claimsChallenge: String? { details?.claims }
    /// HTTP status of the provider's answer.
    public var httpStatus: Int? { details?.httpStatus }
    /// Seconds after which it is worth trying again.
    public var retryAfter: Int? { details?.retryAfter }
    /// With ``Code/serverDeclinedScopes``: what was granted. A silent request for these succeeds.
    public var grantedScopes: [String]? { details?.grantedScopes }
    /// With ``Code/serverDeclinedScopes``: what was asked for and not granted.
    public var declinedScopes: [String]? { details?.declinedScopes }
    /// With ``Code/ambiguousAccount``: the accounts to choose from. With ``Code/interactionRequired`` and
    /// ``Code/serverDeclinedScopes``: whom it is about, where somebody is known.
    public var accounts: [Account]? { details?.accounts?.map(Account.init) }
    /// With ``Code/grantRequired``: what `brokerctl grants approve` takes.
    public var grantRequest: String? { details?.grantRequest }
    /// Whose token was asked for, where that is one account: for the request that follows.
    public var account: Account? { code != .ambiguousAccount && accounts?.count == 1 ? accounts?.first : nil }
    /// What failed below, where the failure is this side's: the errno of a system call, in words.
    public var cause: (any Error)?
    /// The error as the broker sent it; none when the failure is this side's.
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
    /// The provider granted less than was asked for; see ``BrokerClientError/grantedScopes``.
    public static let serverDeclinedScopes = Self(.serverDeclinedScopes)
    /// The person closed or denied the sign-in.
    public static let userCanceled = Self(.userCanceled)
    /// Nobody finished the sign-in in time, or the provider did not answer in time.
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
    /// No such account, for this app.
    public static let accountNotFound = Self(.accountNotFound)
    /// Several accounts fit; name one. See ``BrokerClientError/accounts``.
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
    /// The provider does not allow this client this grant.
    public static let unauthorizedClient = Self(.unauthorizedClient)
    /// What the provider or the broker answered makes no sense.
    public static let invalidResponse = Self(.invalidResponse)
    /// Another person signed in than the account that was asked for.
    public static let mismatchedUser = Self(.mismatchedUser)
    /// The broker, or the provider, cannot do this.
    public static let unsupported = Self(.unsupported)
    /// A fault of the broker's own; its log has the correlation id.
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
