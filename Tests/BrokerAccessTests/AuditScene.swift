import BrokerAccess
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

/// An audit log, and a caller whose actions it records.
struct AuditScene {
    private static let partition = AccessBed.partition

    let bed: AccessBed
    let caller: AuditedCaller
    let log: AuditLog

    init(
        _ change: (inout AuditLog.Bounds) -> Void = { _ in },
        payer: @escaping @Sendable (Partition) -> Partition = { $0 }
    ) async throws {
        bed = try await AccessBed()
        caller = AuditedCaller(try bed.caller())
        var bounds = AuditLog.Bounds()
        change(&bounds)
        log = bed.auditLog(bounds, payer: payer)
    }

    func note(_ method: String, by uid: UInt32) {
        var facts = PeerFacts.outside
        facts.uid = uid
        log.note(AuditEvent(method: method, outcome: "done"), by: Caller(facts), "c-3")
    }

    /// An action of `brokerctl`, started by this program.
    func note(_ method: String, byFrontOf path: String) {
        log.note(AuditEvent(method: method, outcome: "done"), by: .brokerctl(startedBy: path), "c-4")
    }

    func handOut(_ token: UInt8 = 1, as app: String = "mail", scopes: [String] = ["read"], id: String = "c-1") {
        log.cached([token], as: app, to: caller, id) {
            var event = AuditEvent(method: "token.acquireSilent", outcome: "cached")
            (event.app, event.account, event.scopes) = (app, "account-1", scopes)
            return event
        }
    }

    func note(_ method: String, outcome: String = "done", app: String? = nil) {
        var event = AuditEvent(method: method, outcome: outcome)
        event.app = app
        log.note(event, by: caller.caller, "c-2")
    }

    func list(
        of app: String? = nil, since: NumericDate? = nil, limit: Int = 10_000
    ) async throws -> AuditListing {
        try await log.list(of: app, since: since, limit: limit, in: Self.partition)
    }

    /// A change made with the key: the vault itself detects nothing.
    func change(puts: [AuditBlockRecord] = [], deletes: [RecordKey] = []) async throws {
        var change = VaultChange(in: Self.partition, deletes: deletes)
        for block in puts { change.puts.append(try bed.vault.seal(block, secret: nil, in: Self.partition).sealed) }
        try await bed.vault.commit(change)
    }

    func blocks() throws -> [AuditBlockRecord] {
        try bed.vault.loadAll(AuditBlockRecord.self, in: Self.partition).map(\.record).sorted { $0.number < $1.number }
    }

    func fill(_ count: Int) async throws {
        for number in 0..<count {
            note("apps.register", app: "app-\(number)")
            if number % 20 == 19 {
                await log.flush()
                bed.clock.advance(bySeconds: 60)
            }
        }
        await log.flush()
    }
}

extension Caller {
    /// The installed `brokerctl`, started by this program of the user.
    static func brokerctl(startedBy path: String) -> Caller {
        var (front, starter) = (PeerFacts.outside, PeerFacts.outside)
        (front.executable, front.executableIsRootOwned) = ("/usr/bin/brokerctl", true)
        (starter.executable, starter.executableIsRootOwned) = (path, false)
        return Caller(front, startedBy: starter)
    }
}
