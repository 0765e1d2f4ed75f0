import BrokerAccess
import BrokerRPC
import BrokerValues

/// `audit.…`.
struct AuditHandlers: Sendable {
    let audit: AuditLog

    var all: [any AnyMethodHandler] {
        [
            .waiting(ListAudit.self) { request throws(BrokerError) in
                let params = request.params
                let log = try await audit.list(
                    of: params.app, since: params.since, before: params.before, limit: Int(params.limit),
                    in: request.partition)
                return ListAudit.Result(
                    entries: log.entries, intact: log.isIntact, completeSince: log.completeSince)
            }
        ]
    }
}
