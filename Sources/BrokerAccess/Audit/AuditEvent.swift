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

/// Counts how often one caller did the same, until the count is taken for the log.
package final class AuditTally: Sendable {
    let caller: Caller
    let event: AuditEvent
    private let time: NumericDate

    private struct State {
        var count: Int64 = 0
        var correlationID: String?
        var isTaken = false
    }
    private let state = Mutex(State())

    init(_ caller: Caller, _ event: AuditEvent, at time: NumericDate) {
        self.caller = caller
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
        entry.caller = caller.identity
        entry.facts = caller.facts.described
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

    /// - Parameter token: the row key of the token that was handed out.
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
