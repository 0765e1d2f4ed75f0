import BrokerModel
import BrokerValues

/// The content of an audit entry, without its time, count and caller.
package struct AuditEvent: Sendable, Hashable {
    package var method: String
    package var outcome: String
    package var app: String?
    package var account: String?
    package var scopes: [String]?
    package var reason: String?
    package var detail: String?
    package var door: Door?

    package init(method: String, outcome: String) {
        self.method = method
        self.outcome = outcome
    }
}

extension AuditEvent {
    /// Whether nothing was returned or changed.
    var isRefusal: Bool { AuditRing(outcome: outcome) == .refusals }

    /// The event with fewer details, for use if there are too many different ones. A token or a change keeps its account and app;
    /// refusals are only counted.
    func summary(_ detail: String? = nil) -> AuditEvent {
        var event = AuditEvent(method: method, outcome: outcome)
        event.detail = detail
        event.door = door
        if !isRefusal { (event.app, event.account) = (app, account) }
        return event
    }

    /// The event cut to the size of a row, whatever a provider or a caller wrote.
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
