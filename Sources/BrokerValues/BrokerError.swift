/// The one error that crosses layers above the vault and the provider, and the one that a caller gets.
///
/// A lower layer throws its own typed error; the layer that knows what it means for the caller turns it into this.
/// It carries nothing secret: no token, no code, no password, no URL with a query.
///
/// One reference: every call that may throw keeps room for an error, in the frames of waiting tasks too.
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

    /// One sentence for a person; it says what to do next.
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

    /// What a lower layer said; for the log, never for the wire.
    package var cause: (any Error)? {
        get { shared.fields.cause }
        set { change { $0.cause = newValue } }
    }

    private mutating func change(_ change: (inout Fields) -> Void) {
        var fields = shared.fields
        change(&fields)
        shared = Shared(fields)
    }

    /// What the provider or the broker can add (`error.data`).
    package struct Details: Sendable, Equatable {
        package var correlationID: String?
        /// Whether the same request may succeed later by itself; nil goes by the kind.
        package var isRetryable: Bool?
        package var oauthError: String?
        package var subError: String?
        /// Entra's `error_codes`.
        package var errorCodes: [Int64]?
        package var description: String?
        /// A claims challenge: what a request to the person has to carry along.
        package var claims: String?
        package var httpStatus: Int?
        /// Seconds.
        package var retryAfter: Int?
        package var grantedScopes: [String]?
        package var declinedScopes: [String]?
        package var accounts: [Account]?
        package var app: String?
        package var caller: String?
        /// What `grants.approve` takes.
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

    /// The same error, answered to the request with this correlation id (one that is there already stays).
    package func correlated(_ correlationID: String) -> BrokerError {
        var copy = self
        copy.details.correlationID = details.correlationID ?? correlationID
        return copy
    }
}

extension BrokerError.Details {
    /// The provider's own reason as people are shown it, after "The provider said:": its codes and its description, on one
    /// line and of a bounded length, with a point at the end; nil when it gave none.
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
