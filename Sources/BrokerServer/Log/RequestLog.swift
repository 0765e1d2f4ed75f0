import BrokerAccess
import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerValues
import Logging

/// The end of each request: it is counted, and written to the journal and the audit log. The journal has frequent
/// events (a token from the cache, a listing) at the debug level only, the same failure of the same caller once a
/// minute, like the same success without words of its own, and a refresh once, however often its caller waits for it.
struct RequestLog: Sendable {
    private let logger: Logger
    private let audit: AuditLog
    private let clock: any BrokerClock
    private let counts: RequestCounts
    private let names: JournalNames
    private let payer: @Sendable (Partition) -> Partition
    private let repeats = Repeats<Partition, RepeatedEntry.Owner, RepeatedEntry>()
    private let refreshes = RecentRefreshes()

    /// - Parameter payer: the user in whose share of the journal a user's entries are.
    init(
        _ logger: Logger, _ audit: AuditLog, _ counts: RequestCounts, _ names: JournalNames, clock: any BrokerClock,
        payer: @escaping @Sendable (Partition) -> Partition
    ) {
        self.names = names
        self.payer = payer
        self.logger = logger
        self.audit = audit
        self.counts = counts
        self.clock = clock
    }

    /// Returns the start time to pass back at the end of the request.
    func start() -> Duration { clock.uptime }

    func done(_ outcome: RequestOutcome, _ subject: RequestEntry.Subject, since start: Duration) {
        counts.ended(subject).countDone()
        // Part of the hot path: no text is composed unless it is read.
        switch outcome.audited {
        case .nothing: break
        case .token(let token):
            audit.handedOut(token, subject)
            if subject.method == AcquireTokenSilent.name || subject.method == WatchToken.name {
                counts.token(fromCache: token.fromCache, after: clock.uptime - start)
            }
        case .change: audit.note(AuditEvent(outcome, subject), by: subject.caller, subject.correlationID)
        }
        guard logger.logLevel <= outcome.level else { return }
        guard !outcome.isToldOnce else {
            tell(.done, of: subject, since: start) {
                RequestEntry(outcome, of: subject, after: $0, unsaid: $1, names)
            }
            return
        }
        var entry = RequestEntry(outcome, of: subject, after: clock.uptime - start, names)
        if case .token(let token) = outcome.audited, !refreshes.isNew(token, subject) { entry.level = .debug }
        write(entry)
    }

    /// - Returns: the error with its correlation id: the client's answer. The log has the details that it leaves out.
    func failed(_ error: BrokerError, _ subject: RequestEntry.Subject, since start: Duration) -> BrokerError {
        var subject = subject
        counts.ended(subject).count(error.kind)
        let error = error.correlated(subject.correlationID ?? CorrelationID.make())
        subject.correlationID = error.details.correlationID
        audit.note(AuditEvent(error, subject), by: subject.caller, subject.correlationID)
        tell(.failed(error.kind, error.reason), of: subject, since: start) {
            RequestEntry(error, of: subject, after: $0, unsaid: $1, names)
        }
        return error
    }

    func refused(_ error: RPCError, _ subject: RequestEntry.Subject, since start: Duration) {
        counts.ended(subject).countRefused()
        var subject = subject
        subject.correlationID = error.data?.correlationID
        tell(.refused(code: error.code), of: subject, since: start) {
            RequestEntry(error, of: subject, after: $0, unsaid: $1, names)
        }
    }

    /// Logs the same outcome of the same caller once a minute, and a limited number of different ones.
    private func tell(
        _ outcome: RepeatedEntry.Outcome, of subject: RequestEntry.Subject, since start: Duration,
        _ entry: (_ duration: Duration, _ unsaid: Int) -> RequestEntry
    ) {
        let now = clock.uptime
        let same = RepeatedEntry(outcome, of: subject)
        let unsaid = repeats.tell(same, by: same.owner, of: payer(same.owner.partition), at: now)
        var entry = entry(now - start, unsaid ?? 0)
        if unsaid == nil { entry.level = .debug }
        write(entry)
    }

    private func write(_ entry: RequestEntry) {
        logger.log(level: entry.level, "\(entry.message)", metadata: entry.metadata)
    }
}

extension AuditLog {
    fileprivate func handedOut(_ token: AcquiredToken, _ subject: RequestEntry.Subject) {
        let event = {
            var event = AuditEvent(method: subject.method, outcome: token.fromCache ? "cached" : "issued")
            event.door = subject.audited.door
            event.app = subject.app
            event.account = token.account.id
            event.scopes = token.scopes
            return event
        }
        guard token.fromCache else {
            note(event(), by: subject.caller, subject.correlationID)
            return
        }
        cached(token.token.sealed.box, as: subject.app, to: subject.audited, subject.correlationID, event)
    }
}

extension AuditEvent {
    /// An account that its provider reports as deleted; `nil` for any other event.
    init?(ofProvider event: EngineEvent) {
        guard case .account(.removed, let account) = event.change else { return nil }
        self.init(method: RemoveAccount.name, outcome: "done")
        app = event.app.name
        self.account = account.id
        detail = "\(account.environment) says that the account was deleted"
    }

    fileprivate init(_ outcome: RequestOutcome, _ subject: RequestEntry.Subject) {
        self.init(method: subject.method, outcome: "done")
        door = subject.audited.door
        app = outcome.app ?? subject.app
        let words = outcome.words.plain
        if words != subject.method { detail = words }
    }

    fileprivate init(_ error: BrokerError, _ subject: RequestEntry.Subject) {
        self.init(method: subject.method, outcome: error.kind.rawValue)
        door = subject.audited.door
        app = subject.app ?? error.details.app
        reason = error.reason?.rawValue
    }
}
