import BrokerTestSupport
import Foundation
import Testing

/// No reset is needed (docs/operations.md, "When it does not start").
@Suite("Repeated starts", .needsLab)
struct StartLimitTests {
    @Test("the socket keeps listening, and each client is served", arguments: [true, false])
    func manyStarts(isForAll: Bool) async throws {
        try await withTestBed { bed in
            let broker = try await Broker.make(isForAll: isForAll, in: bed)
            try await broker.systemctl("start")
            for _ in 1...12 { try await broker.systemctl("restart") }
            try await broker.systemctl("stop")
            try await broker.lab.user("brokerctl", "status")
            #expect(try await broker.property("ActiveState", ofSocket: true) == "active")
        }
    }

    @Test("with a missing credential, the broker starts as soon as the credential exists", arguments: [true, false])
    func missingCredential(isForAll: Bool) async throws {
        try await withTestBed { bed in
            let broker = try await Broker.make(isForAll: isForAll, in: bed)
            let file = isForAll ? "/etc/brokerd/vault-key" : "/home/\(SystemdLab.user)/vault-key"
            try await broker.dropIn("[Service]\nLoadCredential=vault-key:\(file)\n")
            let client = try broker.lab.start("brokerctl", "--json", "apps", "list")
            try await eventually("systemd has tried more often than its usual limit") {
                try await Int(broker.property("NRestarts")) ?? 0 > 5
            }
            #expect(try await broker.property("ActiveState", ofSocket: true) == "active")

            try await broker.lab.root("sh", "-c", "head -c 32 /dev/urandom > \(file) && chmod 644 \(file)")
            try await eventually("a client is served") {
                try await broker.lab.attempt("brokerctl", "status").succeeded
            }
            #expect(try await broker.property("ActiveState", ofSocket: true) == "active")
            _ = await client.exitStatus()
        }
    }
}

/// A person's broker, or the machine's.
private struct Broker {
    let lab: SystemdLab
    let isForAll: Bool

    static func make(isForAll: Bool, in bed: TestBed) async throws -> Broker {
        let lab = isForAll ? try await SystemdLab.forEverybody(in: bed) : try await SystemdLab.boot(in: bed)
        if !isForAll { try await lab.user("systemctl", "--user", "enable", "--now", "brokerd.socket") }
        return Broker(lab: lab, isForAll: isForAll)
    }

    private var name: String { isForAll ? "brokerd-system" : "brokerd" }

    func systemctl(_ verb: String) async throws {
        if isForAll {
            try await lab.root("systemctl", verb, "\(name).service")
        } else {
            try await lab.user("systemctl", "--user", verb, "\(name).service")
        }
    }

    func property(_ property: String, ofSocket isSocket: Bool = false) async throws -> String {
        let unit = "\(name).\(isSocket ? "socket" : "service")"
        guard isForAll else { return try await lab.property(property, of: unit) }
        return try await lab.root("systemctl", "show", "--value", "--property", property, unit)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    func dropIn(_ text: String) async throws {
        guard isForAll else { return try await lab.unit("\(name).service.d/test.conf", text) }
        try await lab.root(
            "sh", "-c",
            """
            mkdir -p /etc/systemd/system/\(name).service.d
            printf '%s' "$1" > /etc/systemd/system/\(name).service.d/test.conf && systemctl daemon-reload
            """, "sh", text)
    }
}
