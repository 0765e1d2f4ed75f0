import BrokerTestSupport
import Foundation
import Testing

@Suite("The unit that asks at the desktop", .needsLab)
struct SessionUnitTests {
    @Test("the unit starts and ends with the desktop, and does not keep the desktop's target active")
    func desktop() async throws {
        try await withTestBed { bed in
            let lab = try await SystemdLab.boot(in: bed)
            try await lab.user("systemctl", "--user", "enable", "--now", "brokerd.socket")
            try await lab.user("systemctl", "--user", "enable", "brokerd-session.service")
            try await lab.startDesktop()
            func state(_ unit: String) async throws -> String { try await lab.property("ActiveState", of: unit) }
            try await eventually("it runs") { try await state("brokerd-session.service") == "active" }

            try await lab.user("systemctl", "--user", "stop", "desktop.service")
            try await eventually("the target has ended") {
                try await state("graphical-session.target") == "inactive"
            }
            try await eventually("it has ended") { try await state("brokerd-session.service") == "inactive" }
            // The next start of the broker finds no desktop.
            try await lab.user("systemctl", "--user", "restart", "brokerd.service")
            try await eventually("it has looked for one") {
                try await lab.property("Result", of: "brokerd-session.service") == "exec-condition"
            }
            #expect(try await state("graphical-session.target") == "inactive")
        }
    }

    @Test(
        "the unit shows the program that asks for an app, with any proof of administration",
        arguments: ["outside", "setgid", "presence"])
    func proofs(proof: String) async throws {
        try await withTestBed { bed in
            let lab = try await SystemdLab.boot(in: bed)
            // The displayed text.
            try await lab.root(
                "sh", "-c",
                #"printf '#!/bin/sh\necho "$@" >> ~/shown\n' > /usr/local/bin/notify-send; chmod +x /usr/local/bin/notify-send"#
            )
            try await lab.user("systemctl", "--user", "enable", "--now", "brokerd.socket")
            try await lab.addApp("notes")
            try await lab.configure(
                "admin.proof = \"\(proof)\"\naccess.unknown = \"ask\"\naccess.ask_in_browser = false\n")
            if proof == "setgid" {
                let steps = try Recipe.commands(of: "Let only brokerctl administer", in: "operations")
                for step in steps.dropLast() { try await lab.follow(step) }
                #expect(try await lab.attempt("brokerctl", "doctor").output.contains("the session cannot ask you"))
                try await lab.follow(#require(steps.last))
                try await lab.user("systemctl", "--user", "daemon-reload")
                #expect(try await !lab.attempt("brokerctl", "doctor").output.contains("the session cannot ask you"))
            }
            try await lab.user("systemctl", "--user", "restart", "brokerd.service")
            try await lab.user("systemctl", "--user", "enable", "brokerd-session.service")
            try await lab.startDesktop()

            try await lab.user("cp", "/usr/bin/brokerctl", "/tmp/mail")
            let asked = try await lab.attempt("/tmp/mail", "token", "--app", "notes", "--scope", "x")
            #expect(asked.errors.contains("may not use notes yet"), "\(asked)")
            try await eventually("the person is asked") {
                try await lab.attempt("sh", "-c", "cat ~/shown").output.contains("A program asks for notes")
            }
            // Only the program with the group gets further.
            #expect(try await lab.attempt("/tmp/mail", "apps", "remove", "notes").succeeded == (proof != "setgid"))
        }
    }
}
