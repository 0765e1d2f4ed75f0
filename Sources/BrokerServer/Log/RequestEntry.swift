import BrokerAccess
import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerValues
import Logging

/// The result of a successful request, for the log.
struct RequestOutcome: Sendable {
    /// A sentence without its end: "ada@example.org signed in at login.example".
    var words: JournalText
    var level: Logger.Level = .info
    /// The account whose tokens it is about.
    var account: String?
    /// The app that it is about, if the caller does not act as one.
    var app: String?
    var audited = Audited.change
    /// Whether the journal has repetitions once a minute: the words say no more than the method.
    var isToldOnce = false

    /// For the audit log.
    enum Audited: Sendable {
        case nothing
        case change
        case token(AcquiredToken)
    }

    /// Requests that changed nothing are of little interest: debug level, no audit.
    static func answered<M: BrokerMethod>(_ method: M.Type, changed: Bool = !M.isIdempotent) -> RequestOutcome {
        RequestOutcome(
            words: "\(M.name)", level: changed ? .info : .debug, audited: changed ? .change : .nothing,
            isToldOnce: changed)
    }
}

/// The log's entry for one request: a sentence that is clear by itself (caller, app, action, result, duration), and the same
/// facts as fields.
///
/// It holds no secret: errors and outcomes carry no token and no code. A provider's text is shortened; control characters for a
/// terminal are removed when entries are written.
struct RequestEntry: Sendable, Equatable {
    var level: Logger.Level
    var message: String
    var metadata: Logger.Metadata

    /// The known facts of a request before it ends.
    struct Subject: Sendable {
        let method: String
        let audited: AuditedCaller
        var app: String?
        /// Set once its params are read.
        var correlationID: String?

        init(method: String, caller: AuditedCaller) {
            self.method = method
            audited = caller
        }

        var caller: Caller { audited.caller }
    }

    /// - Parameter unsaid: how often the same has happened since the last entry.
    init(
        _ outcome: RequestOutcome, of subject: Subject, after duration: Duration, unsaid: Int = 0, _ names: JournalNames
    ) {
        let shown = { names.shown($0, in: subject.caller.partition) }
        let repeats = unsaid > 0 ? ".\(Self.repeats(unsaid))" : ""
        level = outcome.level
        message = Self.sentence(outcome.words.shown(shown) + repeats, subject, duration, names)
        metadata = Self.metadata(subject, duration)
        metadata["outcome"] = "done"
        metadata["account"] = outcome.account.map { "\(shown($0))" }
    }

    /// - Parameter unsaid: as for an outcome.
    init(
        _ error: BrokerError, of subject: Subject, after duration: Duration, unsaid: Int = 0, _ names: JournalNames
    ) {
        let kind = [error.kind.rawValue, error.reason?.rawValue].compactMap(\.self).joined(separator: ", ")
        var words = "\(subject.method) failed (\(kind))"
        if names.style == .plain || !error.kind.namesPeople { words += ": \(error.message)" }
        if names.style == .plain, let said = error.details.providersWords { words += " The provider said: \(said)" }
        words += Self.repeats(unsaid)
        level = error.kind == .internal ? .error : .info
        message = Self.sentence(words, subject, duration, names)
        metadata = Self.metadata(subject, duration)
        metadata["outcome"] = "\(error.kind.rawValue)"
        metadata["reason"] = error.reason.map { "\($0.rawValue)" }
        metadata["oauth_error"] = error.details.oauthError.map { "\($0)" }
        metadata["sub_error"] = error.details.subError.map { "\($0)" }
        metadata["http_status"] = error.details.httpStatus.map { "\($0)" }
        // A provider's refusal is already described in full.
        if error.details.oauthError == nil, names.style == .plain { metadata["cause"] = error.cause.map { "\($0)" } }
    }

    /// A message that was not a valid request.
    init(
        _ error: RPCError, of subject: Subject, after duration: Duration, unsaid: Int = 0, _ names: JournalNames
    ) {
        level = .info
        message = Self.sentence(
            "\(subject.method) was refused: \(error.message)" + Self.repeats(unsaid), subject, duration, names)
        metadata = Self.metadata(subject, duration)
        metadata["outcome"] = "\(error.code)"
    }

    private static func repeats(_ unsaid: Int) -> String {
        unsaid > 0 ? " The same \(unsaid) times before, in the last minute or more." : ""
    }

    private static func sentence(
        _ words: String, _ subject: Subject, _ duration: Duration, _ names: JournalNames
    ) -> String {
        let user = names.user(of: subject.caller.partition).map { "\($0), " } ?? ""
        let caller = subject.caller.id + (subject.app.map { " as \($0)" } ?? "")
        return "\(user)\(caller): \(words) (\(seconds(duration)), correlation id \(subject.correlationID ?? "none"))"
    }

    private static func metadata(_ subject: Subject, _ duration: Duration) -> Logger.Metadata {
        var metadata: Logger.Metadata = [
            "method": "\(subject.method)", "caller": "\(subject.caller.id)", "pid": "\(subject.caller.facts.pid)",
            "uid": "\(subject.caller.partition.uid)",
            "duration_ms": "\(milliseconds(duration))",
        ]
        metadata["app"] = subject.app.map { "\($0)" }
        if subject.audited.door != .socket { metadata["door"] = "\(subject.audited.door.rawValue)" }
        metadata["correlation_id"] = subject.correlationID.map { "\($0)" }
        return metadata
    }

    private static func milliseconds(_ duration: Duration) -> Int64 {
        duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000
    }

    /// `0.31 s`.
    private static func seconds(_ duration: Duration) -> String {
        let hundredths = max(0, milliseconds(duration)) / 10
        let rest = hundredths % 100
        return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest) s"
    }
}

extension ErrorKind {
    /// Whether the error's text may name a person, or quote a provider that does.
    fileprivate var namesPeople: Bool {
        switch self {
        case .mismatchedUser, .ambiguousAccount, .accountNotFound, .invalidResponse: true
        default: false
        }
    }
}
