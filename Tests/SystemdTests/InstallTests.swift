import BrokerTestSupport
import DevIdentityProvider
import Foundation
import Testing

@Suite("Installing", .needsLab)
struct InstallTests {
    @Test("a new user follows the README literally, from installation to tokens and removal")
    func readme() async throws {
        try await withTestBed { bed in
            let provider = try await DevIdentityProvider.start(in: bed)
            let lab = try await SystemdLab.boot(in: bed, installing: false)
            let steps = try ReadmeStep.steps(of: "Five minutes")
            #expect(steps.count > 10 && steps.contains { $0.command.contains("brokerctl login") })
            for var step in steps {
                step.command.replace("127.0.0.1:8460", with: "127.0.0.1:\(provider.port)")
                let text = try await take(step, in: lab, at: provider, bed)
                #expect(step.output.isEmpty || step.shows(text), "\(step.command)\n\(text)")
            }
            try await journal(of: lab)
            try await removal(in: lab)
        }
    }

    /// Its log has the events, sentence by sentence, and nothing else.
    private func journal(of lab: SystemdLab) async throws {
        let entries = try await lab.journal().filter { $0["_SYSTEMD_USER_UNIT"] == "brokerd.service" }
        let noise = entries.filter { $0["BROKER_LOGGER"] == nil && $0["_COMM"] == "brokerd" }
        #expect(noise.isEmpty, "\(noise.compactMap { $0["MESSAGE"] })")
        for said in [
            ": app notes was registered at ", " as notes: alice signed in at ",
            " as notes: 3 tokens of alice were removed",
        ] {
            let entry = try #require(entries.first { $0["MESSAGE"]?.contains(said) == true }, "\(said)")
            #expect(entry["PRIORITY"] == "6" && entry["BROKER_CORRELATION_ID"]?.isEmpty == false)
            #expect(entry["BROKER_CALLER"] == "/usr/local/bin/brokerctl")
        }
    }

    /// Runs the README's commands, as the user that it names, and returns their output.
    private func take(
        _ step: ReadmeStep, in lab: SystemdLab, at provider: RunningProvider, _ bed: TestBed
    ) async throws -> String {
        switch step.command {
        // The code was compiled before the tests, and the provider runs in them: only the target must exist.
        case "make release", "make provider":
            return try await bed.require(
                "make",
                ["--directory", PackageTree.root.path, "--dry-run"]
                    + step.command.split(separator: " ").dropFirst().map(String.init))
        case "sudo make install":
            // No compiler is in root's path.
            #expect(try await lab.rootAttempt("sh", "-c", "command -v swift").status != .exited(0))
            return try await lab.root(["make"] + SystemdLab.makeInside + ["install"])
        case let login where login.hasPrefix("brokerctl login"):
            let process = try lab.start("bash", "-c", login)
            try await process.waitForText("/authorize?")
            let url = try #require(process.outputText.firstMatch(of: /http:\S+/)).output
            try await lab.visit(provider.signIn(.alice, at: String(url), in: bed).url)
            #expect(await process.exitStatus() == .exited(0), "\(process.logTail)")
            return process.outputText.replacing("\(url)\n", with: "")
        default:
            return try await lab.user("bash", "-c", step.command)
        }
    }

    /// Nothing runs and no link dangles; the vault belongs to the person and remains.
    private func removal(in lab: SystemdLab) async throws {
        let pid = try await lab.property("MainPID")
        #expect(pid != "0")
        let link = "~/.config/systemd/user/sockets.target.wants/brokerd.socket"
        try await lab.user("bash", "-c", "test -L \(link)")
        try await lab.root(["make"] + SystemdLab.makeInside + ["uninstall"])
        try await eventually("it has ended") { try await !lab.rootAttempt("kill", "-0", pid).succeeded }
        #expect(try await !lab.attempt("bash", "-c", "test -L \(link) || command -v brokerctl").succeeded)
        let left = try await lab.root("find", "/usr/local", "-iname", "*broker*")
        #expect(left.isEmpty, "\(left)")
        try await lab.user("bash", "-c", "ls ~/.local/state/brokerd/vault.db ~/.local/share/brokerd-key/*.key")
    }

    @Test("a user installs for themselves, where systemd finds the units, and uninstalls again")
    func home() async throws {
        try await withTestBed { bed in
            let lab = try await SystemdLab.boot(in: bed, installing: false)
            let make = "make " + SystemdLab.makeInside.joined(separator: " ")
            let said = try await lab.user("bash", "-c", "\(make) install PREFIX=~/.local")
            #expect(said.contains("systemctl --user enable --now brokerd.socket"))
            try await lab.user("systemctl", "--user", "enable", "--now", "brokerd.socket")
            try await lab.user("bash", "-c", "~/.local/bin/brokerctl status")
            #expect(try await lab.property("FragmentPath").hasSuffix("/.local/share/systemd/user/brokerd.service"))
            let again = try await lab.user("bash", "-c", "\(make) install PREFIX=~/.local")
            #expect(again.contains("systemctl --user daemon-reload && systemctl --user try-restart brokerd.service"))

            let pid = try await lab.property("MainPID")
            try await lab.user("bash", "-c", "\(make) uninstall PREFIX=~/.local")
            #expect(try await !lab.rootAttempt("kill", "-0", pid).succeeded)
            // The person's own data remains: the vault and its key.
            let left = try await lab.user(
                "bash", "-c",
                """
                find ~/.local ~/.config \\( -path ~/.local/share/brokerd-key -o -path ~/.local/state/brokerd \\) -prune \
                    -o -iname '*broker*' -print
                """)
            #expect(left.isEmpty, "\(left)")
        }
    }

    @Test("uninstalling stops and disables the machine's broker that an administrator set up")
    func everybody() async throws {
        try await withTestBed { bed in
            let lab = try await SystemdLab.forEverybody(in: bed)
            try await lab.user("brokerctl", "status")
            let said = try await lab.root(["make"] + SystemdLab.makeInside + ["uninstall", "PREFIX=/usr"])
            #expect(said.contains("The machine's broker is stopped and disabled."), "\(said)")
            #expect(try await lab.service("ActiveState") == "inactive")
            for (question, answer) in [("is-active", "inactive\n"), ("is-enabled", "disabled\n")] {
                #expect(try await lab.rootAttempt("systemctl", question, "brokerd-system.socket").output == answer)
            }
        }
    }

    @Test("a prefix that units and desktop entries cannot contain is refused, and nothing is installed")
    func oddPrefix() async throws {
        try await withTestBed { bed in
            let place = try bed.makeDirectory("staged")
            for prefix in ["/opt/r&d", "/opt/my tools", "/opt/100%", "/opt/a'b", "/opt/a$$b", "relative"] {
                let result = try await bed.run(
                    Launch("make", try SystemdLab.make + ["install", "PREFIX=\(prefix)", "DESTDIR=\(place)"]))
                #expect(!result.succeeded && !result.errors.isEmpty, "\(prefix): \(result)")
                #expect(try FileManager.default.contentsOfDirectory(atPath: place).isEmpty, "\(prefix)")
            }
            try await bed.require("make", try SystemdLab.make + ["install", "PREFIX=/opt/b-1.0+é", "DESTDIR=\(place)"])
            let entry = try String(
                contentsOfFile: "\(place)/etc/xdg/autostart/brokerd-session.desktop", encoding: .utf8)
            #expect(entry.contains("\nExec=/opt/b-1.0+é/bin/brokerctl session --stay\n"))
            // Without the link, which is the package's, the entry starts nothing.
            let link = "/opt/b-1.0+é/lib/token-broker/session"
            #expect(entry.contains("\nTryExec=\(link)\n"), "\(entry)")
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: place + link) == "../../bin/brokerctl")
            #expect(FileManager.default.isExecutableFile(atPath: place + link))
        }
    }

    @Test("a switch-off by the person survives another installation, and the removal")
    func switchedOff() async throws {
        try await withTestBed { bed in
            let (home, place) = try (bed.makeDirectory("home"), bed.makeDirectory("staged"))
            func make(_ target: String) async throws {
                let words = try SystemdLab.make + [target, "PREFIX=\(home)/.local", "DESTDIR=\(place)"]
                let result = try await bed.run(Launch("make", words, environment: ["HOME": home]))
                #expect(result.succeeded, "\(result)")
            }
            let variables = "\(place)\(home)/.config/environment.d/60-token-broker.conf"
            let entry = "\(place)\(home)/.config/autostart/brokerd-session.desktop"
            let hidden = "[Desktop Entry]\nType=Application\nHidden=true\n"
            try await make("install")
            try FileManager.default.removeItem(atPath: variables)
            try FileManager.default.createSymbolicLink(atPath: variables, withDestinationPath: "/dev/null")
            try hidden.write(toFile: entry, atomically: true, encoding: .utf8)
            for target in ["install", "uninstall"] {
                try await make(target)
                #expect(try FileManager.default.destinationOfSymbolicLink(atPath: variables) == "/dev/null")
                #expect(try String(contentsOfFile: entry, encoding: .utf8) == hidden)
            }
            #expect(!FileManager.default.fileExists(atPath: "\(place)\(home)/.local/lib/token-broker"))
        }
    }

    @Test("installed files refer only to installed files")
    func references() async throws {
        try await withTestBed { bed in
            let place = try bed.makeDirectory("staged")
            try await bed.require("make", try SystemdLab.make + ["install", "PREFIX=/usr", "DESTDIR=\(place)"])
            let files = try FileManager.default.subpathsOfDirectory(atPath: place)
            let documents = files.filter { $0.hasSuffix(".md") }
            #expect(documents.contains("usr/share/doc/token-broker/docs/operations.md"))
            #expect(!files.contains { $0.contains("docs/decisions") || $0.contains("Examples") })
            for document in documents {
                let text = try String(contentsOfFile: "\(place)/\(document)", encoding: .utf8)
                let folder = URL(filePath: "\(place)/\(document)").deletingLastPathComponent()
                for link in text.matches(of: /\]\(([^)#\s]+)[^)]*\)/) where !link.1.contains(":") {
                    let target = folder.appending(path: String(link.1)).path
                    #expect(FileManager.default.fileExists(atPath: target), "\(document): \(link.1)")
                }
            }
            for unit in files.filter({ $0.contains("systemd/user/") }) {
                let text = try String(contentsOfFile: "\(place)/\(unit)", encoding: .utf8)
                #expect(!text.contains("@PREFIX@"))
                let pages = text.matches(of: /man:([a-z-]+)\(([0-9])\)/)
                #expect(!pages.isEmpty, "\(unit)")
                for page in pages {
                    #expect(files.contains("usr/share/man/man\(page.2)/\(page.1).\(page.2)"), "\(page.0)")
                }
                for path in text.matches(of: /(?:file:|ExecStart=)(\/\S+)/) {
                    #expect(FileManager.default.fileExists(atPath: place + path.1), "\(unit): \(path.1)")
                }
            }
        }
    }
}
