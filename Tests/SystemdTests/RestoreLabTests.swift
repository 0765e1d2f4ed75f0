import BrokerTestSupport
import DevIdentityProvider
import Foundation
import Testing

@Suite("A system broker's vault on another machine", .needsLab)
struct RestoreLabTests {
    private static let passphrase = "a long sentence for bad days"

    /// For a person at a terminal, and on a machine without a TPM.
    private func follow(_ step: String, in lab: SystemdLab) async throws {
        var step = step
        for asking in ["add-source passphrase", "brokerctl unlock"] {
            step = step.replacing(asking, with: asking + " --stdin < /root/passphrase")
        }
        try await lab.follow(step.replacing("encrypt --name", with: "encrypt --with-key=host --name"))
    }

    private func boot(in bed: TestBed) async throws -> SystemdLab {
        let lab = try await SystemdLab.forEverybody(
            in: bed, "vault.key_source = [\"credential\", \"passphrase\"]\n", withCredential: true)
        try await lab.root("sh", "-c", "printf '%s\\n' \"$1\" > /root/passphrase", "sh", Self.passphrase)
        return lab
    }

    @Test("a copy of the vault opens with the recovery passphrase, then with the new machine's credential")
    func elsewhere() async throws {
        try await withTestBed { bed in
            let steps = try Recipe.commands(of: "Restore the machine's broker elsewhere", in: "operations")
            let there = try #require(steps.firstIndex { $0.contains("credstore.encrypted") })
            let provider = try await DevIdentityProvider.start(in: bed)
            let old = try await boot(in: bed)
            try await old.addApp("work", at: provider)
            try await old.signIn("work", at: provider)
            let doctor = try await old.rootAttempt("brokerctl", "doctor").output
            #expect(doctor.contains("brokerctl key add-source passphrase"), "\(doctor)")
            for step in steps[..<there] { try await follow(step, in: old) }
            #expect(try await old.root("brokerctl", "key", "status").contains("passphrase"))
            #expect(try await !old.rootAttempt("brokerctl", "doctor").output.contains("add-source"))
            let copy = try await old.place("/root/vault.db")

            let new = try await boot(in: bed)
            #expect(try await new.bring(copy) == "/root/vault.db")
            for step in steps[there...] {
                try await follow(step, in: new)
                guard step.contains("start brokerd-system.socket") else { continue }
                // Its key is not here, and the broker reports what opens it instead of ending.
                let locked = try await new.rootAttempt("brokerctl", "key", "rotate")
                #expect(locked.status == .exited(4), "\(locked)")
            }
            let token = try await new.user("brokerctl", "token", "--app", "work", "--force-refresh")
            #expect(!token.isEmpty)
            #expect(try await !new.user("brokerctl", "status").contains("An earlier vault"))

            // From now on no passphrase is needed.
            try await new.root("systemctl", "restart", "brokerd-system.service")
            #expect(try await new.user("brokerctl", "apps", "list").contains("work"))
            #expect(try await new.root("brokerctl", "status").contains("credential"))
        }
    }

    @Test("root accepts a restore for all users at once")
    func everybody() async throws {
        try await withTestBed { bed in
            let lab = try await SystemdLab.forEverybody(in: bed)
            try await lab.add("bob")
            let people = [SystemdLab.user, "bob"]
            for name in people { try await lab.addApp("notes", as: name) }
            try await lab.root("systemctl", "stop", "brokerd-system.service")
            try await lab.root("cp", "--preserve", "/var/lib/brokerd/vault.db", "/root/kept")
            for name in people { try await lab.addApp("mail", as: name) }
            try await lab.root("systemctl", "stop", "brokerd-system.service")
            try await lab.root("cp", "--preserve", "/root/kept", "/var/lib/brokerd/vault.db")
            for name in people {
                #expect(try await lab.user("brokerctl", "status", as: name).contains("An earlier vault"))
            }
            let refused = try await lab.attempt("brokerctl", "cache", "accept-restore", "--everybody")
            #expect(refused.status == .exited(5), "\(refused)")
            let accepted = try await lab.root("brokerctl", "cache", "accept-restore", "--everybody")
            #expect(accepted.contains("for everybody"), "\(accepted)")
            for name in people {
                #expect(try await !lab.user("brokerctl", "status", as: name).contains("An earlier vault"))
            }
            // A backup made by root contains root's data only, and says so.
            try await lab.root("sh", "-c", "echo a long sentence > /root/passphrase")
            let export = "brokerctl cache export /root/backup --stdin < /root/passphrase"
            let saved = try await lab.rootAttempt("sh", "-c", export)
            #expect(saved.succeeded && saved.errors.contains("only root's own records"), "\(saved)")
            #expect(saved.output.contains("nothing, because there are no records."), "\(saved)")
        }
    }
}
