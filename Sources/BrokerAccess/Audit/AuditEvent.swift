import BrokerModel
import BrokerValues
import Synchronization

/// What happened, without when and how often.
package struct AuditEvent: Sendable, Hashable {
    package var method: String
    package var outcome: String
    package var app: String?
    package var account: String?
    package var scopes: [String]?
    package var reason: String?
    package var detail: String?

    package init(method: String, outcome: String) {
        self.method = method
        self.outcome = outcome
    }
}

extension AuditEvent {
    /// Whether nothing was handed out or changed.
    var isRefusal: Bool { !["cached", "issued", "done"].contains(outcome) }

    /// What a row has room for, whatever a provider or a caller wrote.
    var bounded: AuditEvent {
        var event = self
        event.app = app.map { $0.cut(to: 512) }
        event.account = account.map { $0.cut(to: 128) }
        event.detail = detail.map { $0.cut(to: 512) }
        guard let scopes else { return event }
        var (kept, room) = ([String](), 2_048)
        for scope in scopes.prefix(32) where scope.utf8.count <= room {
            kept.append(scope)
            room -= scope.utf8.count
        }
        event.scopes = kept
        if kept.count < scopes.count { event.detail = "and \(scopes.count - kept.count) more scopes" }
        return event
    }
}

extension String {
    fileprivate func cut(to bytes: Int) -> String {
        utf8.count <= bytes ? self : String(decoding: utf8.prefix(bytes), as: UTF8.self)
    }
}

/// Counts how often one caller did the same, until the count is taken for the log.
package final class AuditTally: Sendable {
    let caller: Caller
    let event: AuditEvent
    /// Whether it counts what several callers did.
    private let isOfMany: Bool
    private let time: NumericDate

    private struct State {
        var count: Int64 = 0
        var correlationID: String?
        var isTaken = false
    }
    private let state = Mutex(State())

    init(_ caller: Caller, _ event: AuditEvent, isOfMany: Bool, at time: NumericDate) {
        self.caller = caller
        self.isOfMany = isOfMany
        self.event = event
        self.time = time
    }

    /// - Returns: false when the count was taken: the event needs another tally.
    func add(_ correlationID: String?) -> Bool {
        state.withLock { state in
            guard !state.isTaken else { return false }
            state.count += 1
            state.correlationID = correlationID
            return true
        }
    }

    func take() -> AuditEntry {
        let (count, correlationID) = state.withLock { state in
            state.isTaken = true
            return (state.count, state.correlationID)
        }
        var entry = AuditEntry(time: time, method: event.method, outcome: event.outcome)
        entry.count = count
        entry.caller = isOfMany ? .many : caller.identity
        entry.facts = isOfMany ? nil : caller.facts.described
        entry.app = event.app
        entry.account = event.account
        entry.scopes = event.scopes
        entry.reason = event.reason
        entry.detail = event.detail
        entry.correlationID = correlationID
        return entry
    }
}

/// A connected caller, with the tally of the token that it was handed last: the hot path counts there.
package final class AuditedCaller: Sendable {
    package let caller: Caller
    private let last = Mutex<(token: [UInt8], app: String?, tally: AuditTally)?>(nil)

    package init(_ caller: Caller) { self.caller = caller }

    /// - Parameter token: as it is sealed.
    func count(_ token: [UInt8], as app: String?, _ correlationID: String?) -> Bool {
        last.withLock { last in
            guard let last, last.token == token, last.app == app else { return false }
            return last.tally.add(correlationID)
        }
    }

    func remember(_ tally: AuditTally, of token: [UInt8], as app: String?) {
        last.withLock { $0 = (token, app, tally) }
    }
}

extension CallerIdentity {
    /// For what is counted and not told apart.
    static let many = CallerIdentity(tier: .unidentified, id: "many callers")
}
