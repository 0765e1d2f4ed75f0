/// The only error that crosses layers above the vault and the provider, and the one that a caller gets.
///
/// A lower layer throws its own typed error; the layer that knows its meaning for the caller converts it to this one. It contains
/// nothing secret: no token, no code, no password, no URL with a query.
///
/// It is a single reference, because every call that may throw reserves room for an error, also in the frames of waiting tasks.
package struct BrokerError: Error, Sendable {
    private struct Fields {
        var kind: ErrorKind
        var message: String
        var reason: ErrorReason?
        var details = Details()
        var cause: (any Error)?
    }

    private final class Shared: Sendable {
        let fields: Fields

        init(_ fields: Fields) { self.fields = fields }
    }

    private var shared: Shared

    package var kind: ErrorKind {
        get { shared.fields.kind }
        set { change { $0.kind = newValue } }
    }

    /// One sentence for a person, with the next step.
    package var message: String {
        get { shared.fields.message }
        set { change { $0.message = newValue } }
    }

    package var reason: ErrorReason? {
        get { shared.fields.reason }
        set { change { $0.reason = newValue } }
    }

    package var details: Details {
        get { shared.fields.details }
        set { change { $0.details = newValue } }
    }

    /// The error of a lower layer. It is for the log, and never sent to a caller.
    package var cause: (any Error)? {
        get { shared.fields.cause }
        set { change { $0.cause = newValue } }
    }

    private mutating func change(_ change: (inout Fields) -> Void) {
        var fields = shared.fields
        change(&fields)
        shared = Shared(fields)
    }

    /// Further facts from the provider or the broker (`error.data`).
    package struct Details: Sendable, Equatable {
        package var correlationID: String?
        /// Whether the same request may succeed later by itself; `nil` uses the kind's default.
        package var isRetryable: Bool?
        package var oauthError: String?
        package var subError: String?
        /// Entra's `error_codes`.
        package var errorCodes: [Int64]?
        package var description: String?
        /// A claims challenge, to be sent with an interactive request.
        package var claims: String?
        package var httpStatus: Int?
        /// The seconds after which a new attempt is worthwhile.
        package var retryAfter: Int?
        package var grantedScopes: [String]?
        package var declinedScopes: [String]?
        package var accounts: [Account]?
        package var app: String?
        package var caller: String?
        /// The parameter for `grants.approve`.
        package var grantRequest: String?

        package init() {}
    }

    package init(
        _ kind: ErrorKind, _ message: String, reason: ErrorReason? = nil, cause: (any Error)? = nil,
        with change: (inout Details) -> Void = { _ in }
    ) {
        var fields = Fields(kind: kind, message: message, reason: reason, cause: cause)
        change(&fields.details)
        shared = Shared(fields)
    }

    /// The same error with this correlation id, unless it already has one.
    package func correlated(_ correlationID: String) -> BrokerError {
        var copy = self
        copy.details.correlationID = details.correlationID ?? correlationID
        return copy
    }
}

extension BrokerError.Details {
    /// The provider's own reason as shown to users, after "The provider said:": its codes and its description, on one line and of
    /// a bounded length, with a full stop; `nil` if it gave none.
    package var providersWords: String? {
        let words = [oauthError, subError, description].compactMap { $0.map { SafeText($0, atMost: 300).text } }
        guard let last = words.last?.last else { return nil }
        return words.joined(separator: ", ") + (".!?…".contains(last) ? "" : ".")
    }
}

extension BrokerError: CustomStringConvertible {
    package var description: String {
        let why = reason.map { "/\($0.rawValue)" } ?? ""
        return "\(kind.rawValue)\(why): \(message)"
    }
}

extension BrokerError {
    /// The error for requests that the broker does not serve any more.
    package static let stopping = BrokerError(
        .serverUnavailable, "The broker is stopping; connect again in a moment.", reason: .shuttingDown)

    /// The error for the log: the caller does not wait any more.
    package static let callerWentAway = BrokerError(
        .userCanceled, "The program that asked for this has gone.")
}
