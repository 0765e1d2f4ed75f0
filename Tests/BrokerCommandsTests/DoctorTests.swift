import BrokerCommands
import BrokerLink
import BrokerRPC
import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

@Suite("brokerctl doctor")
struct DoctorTests {
    private static func unit(_ load: String, _ active: String, _ file: String) -> String {
        "LoadState=\(load)\nActiveState=\(active)\nUnitFileState=\(file)\n"
    }

    @Test("a parent folder that others can write is bad, unless it is sticky or of the user's own group")
    func folders() {
        func verdict(_ mode: mode_t, owner: uid_t = 0, hasPrivateGroup: Bool = false) -> CheckResult.Verdict? {
            let facts = FolderFacts(path: "/srv", owner: owner, mode: mode, hasPrivateGroup: hasPrivateGroup)
            return DoctorChecks.folders([facts, facts], of: 1000).first?.verdict
        }
        #expect(verdict(0o755) == .good && verdict(0o755, owner: 1000) == .good && verdict(0o1777) == .good)
        #expect(verdict(0o775, owner: 1000, hasPrivateGroup: true) == .good)
        #expect(verdict(0o775, owner: 1000) == .bad && verdict(0o757) == .bad && verdict(0o755, owner: 1001) == .bad)
        #expect(DoctorChecks.folders([], of: 1000).count == 1)
    }

    @Test(
        "the socket unit's state is reported with the remedy",
        arguments: [
            (unit("loaded", "active", "enabled"), CheckResult.Verdict.good, nil),
            (unit("loaded", "active", "disabled"), .note, "systemctl --user enable brokerd.socket"),
            (unit("loaded", "inactive", "disabled"), .bad, "enable --now brokerd.socket"),
            (unit("loaded", "failed", "enabled"), .bad, "restart brokerd.socket"),
            (unit("not-found", "inactive", ""), .bad, "install the broker"), (nil, .note, nil),
        ] as [(String?, CheckResult.Verdict, String?)])
    func socketUnit(properties: String?, verdict: CheckResult.Verdict, advice: String?) {
        let finding = DoctorChecks.socketUnit(properties)
        #expect(finding.verdict == verdict)
        #expect(advice.map { finding.advice?.contains($0) == true } ?? (finding.advice == nil))
    }

    @Test("advice for the machine's broker names its units and root's commands")
    func machine() {
        let findings =
            [Self.unit("loaded", "inactive", "disabled"), Self.unit("loaded", "failed", "enabled"), nil].map {
                DoctorChecks.socketUnit($0, .machine)
            } + [DoctorChecks.configuration((2, "brokerd: x"), isRunning: true, .machine)]
            + DoctorChecks.reading(
                GetBrokerStatus.Configuration(files: ["/etc/brokerd/config.toml"], readOn: 1000), .machine
            ) { _ in 1001 }
        #expect(findings.compactMap(\.advice).count == 4)
        for finding in findings {
            let words = finding.text + (finding.advice ?? "")
            #expect(!words.contains("--user") && !words.contains("of yours"), "\(finding)")
        }
        let vaults = DoctorChecks.vaults("/v", isLocked: true, others: ["/home/a/vault.db"], .machine, isOwner: false)
        #expect(vaults.first?.advice?.contains("administrator") == true)
        #expect(vaults.last?.advice?.contains("cache export") == true)
        let hidden = DoctorChecks.configuration((2, "brokerd: x"), isRunning: true, .machine, isReadable: false)
        #expect(hidden.verdict == .note)
    }

    @Test("the socket for oidc-agent's programs is checked against OIDC_SOCK")
    func agentDoor() {
        let door = OpenDoor(name: "oidc-agent", path: "/run/a.sock")
        func finding(
            _ variable: String, _ doors: [OpenDoor]? = [door], _ units: BrokerUnits = .own, trouble: String? = nil
        ) -> CheckResult? {
            DoctorChecks.agentDoor(doors, units, variable: variable, trouble: { _ in trouble })
        }
        #expect(finding("/run/a.sock")?.verdict == .good && finding("")?.text.contains("not set here") == true)
        #expect(finding("", nil) == nil && finding("", []) == nil)
        #expect(finding("/tmp/agent", nil)?.text.contains("does not listen") == true)
        #expect(
            finding("/tmp/agent")?.verdict == .note && finding("/tmp/agent")?.advice?.contains("brokerctl env") == true)
        let broken = finding("/run/a.sock", trouble: "nobody listens there")
        #expect(broken?.verdict == .bad && broken?.advice == "systemctl --user restart brokerd.socket")
        let machines = finding("/run/a.sock", [door], .machine, trouble: "nobody listens there")
        #expect(machines?.advice?.hasSuffix("systemctl restart brokerd-system.socket") == true)
    }

    @Test("a session unit whose sandbox denies a required brokerctl group is reported")
    func sessionUnit() {
        func finding(_ load: String, _ privileges: String, _ isGroupProof: Bool) -> CheckResult? {
            DoctorChecks.sessionUnit(
                "LoadState=\(load)\nNoNewPrivileges=\(privileges)\n", isGroupProof: isGroupProof)
        }
        #expect(finding("loaded", "yes", true)?.verdict == .bad)
        #expect(finding("loaded", "no", true) == nil && finding("loaded", "yes", false) == nil)
        #expect(finding("not-found", "yes", true) == nil)
        #expect(DoctorChecks.sessionUnit(nil, isGroupProof: true) == nil)
    }

    @Test("records of an account that is gone are reported with the command that erases them")
    func partitions() {
        func partition(_ uid: UInt32, _ state: String) -> UserPartition {
            UserPartition(uid: uid, account: "ada", state: state, records: 1, bytes: 1, lastUsedOn: nil)
        }
        let all = [partition(1000, "present"), partition(1001, "gone"), partition(1002, "otherAccount")]
        let findings = DoctorChecks.partitions(all)
        #expect(findings.map(\.advice) == ["brokerctl partitions remove 1001", "brokerctl partitions remove 1002"])
        #expect(findings.allSatisfy { $0.verdict == .note && $0.text.contains("ada's") })
        #expect(DoctorChecks.partitions([all[0]]).map(\.verdict) == [.good] && DoctorChecks.partitions([]).isEmpty)
    }

    @Test("git settings that give tokens to every host or to a storing helper are reported")
    func git() {
        func verdict(_ lines: String...) -> String? {
            DoctorChecks.git(lines.map { $0 + "\n" }.joined()).map { "\($0.verdict.rawValue): \($0.text)" }
        }
        let host = "credential.https://git.example.org.helper"
        #expect(DoctorChecks.git(nil) == nil)
        #expect(verdict("credential.helper store", "\(host) cache") == nil)
        #expect(verdict("credential.helper store", "\(host) ", "\(host) broker --app work")?.hasPrefix("good") == true)
        #expect(verdict("\(host) /usr/bin/git-credential-broker --app work")?.hasPrefix("good") == true)
        #expect(verdict("credential.helper store", "\(host) broker --app work")?.contains("(store)") == true)
        #expect(verdict("\(host) broker --app work", "\(host) cache --timeout 9")?.contains("(cache") == true)
        #expect(verdict("credential.helper broker --app work")?.hasPrefix("note: Every host") == true)
        #expect(verdict("credential.helper broker --app work --host h")?.hasPrefix("good") == true)
    }

    @Test("each provider is reported as answering, failing, untrusted or unreachable, in curl's words")
    func network() {
        let report = """
            0 200 https://id.example/\u{20}
            0 503 https://sick.example/\u{20}
            60 000 https://own.example/ SSL certificate problem
            6 000 https://gone.example/ Could not resolve host: gone.example
            """
        let findings = DoctorChecks.network(report)
        #expect(findings.map(\.verdict) == [.good, .note, .note, .bad])
        #expect(findings[0].text == "https://id.example answers.")
        #expect(findings[2].advice?.contains("oauth.ca_file") == true)
        #expect(
            findings[3].text == "https://gone.example cannot be reached: Could not resolve host: gone.example.")
    }

    @Test("doctor contacts the apps' providers itself")
    func providers() async throws {
        try await withTestBed { bed in
            let provider = try await DevIdentityProvider.start(in: bed)
            func app(_ name: String, _ authority: String) -> String {
                #"{"name":"\#(name)","clientId":"c","authority":"\#(authority)","scopes":[],"executables":[],"units":[],"#
                    + #""sandboxIds":[],"confidential":false}"#
            }
            let free = try FreePort.next()
            let apps = [app("a", provider.issuer), app("b", "http://127.0.0.1:\(free)/x")]
            let broker = try BrokerCommandsTests.broker([
                "broker.status": ScriptedAnswers.status, "apps.list": #"{"apps":[\#(apps.joined(separator: ","))]}"#,
                "keys.status": #"{"source":"credential","available":["key-file"],"resealing":false}"#,
            ])
            let result = try await brokerctl(["--socket", broker.path, "doctor"])
            #expect(result.output.contains("\(provider.issuer) answers."), "\(result)")
            #expect(result.output.contains("http://127.0.0.1:\(free) cannot be reached"), "\(result)")
            #expect(result.output.contains("BAD   Key"), "\(result)")
            #expect(result.status == .exited(1))
        }
    }

    @Test("a mistake in the configuration is reported in brokerd's words")
    func configuration() {
        let mistake = DoctorChecks.configuration(
            (2, "brokerd: /etc/x.toml:2: there is no setting a\nmore\n"), isRunning: false)
        #expect(mistake.verdict == .bad && mistake.text == "/etc/x.toml:2: there is no setting a")
        #expect(mistake.advice?.contains("when it next starts") == true)
        #expect(DoctorChecks.configuration((2, "x"), isRunning: true).advice?.contains("reload brokerd") == true)
        #expect(DoctorChecks.configuration((0, ""), isRunning: true).verdict == .good)
        let remark = DoctorChecks.configuration(
            (0, "log.level = debug  # /c:2\nbrokerd: /c:2: x is called log.level now\n"), isRunning: true)
        #expect(remark.verdict == .note && remark.text == "/c:2: x is called log.level now")
        #expect(DoctorChecks.configuration(nil, isRunning: true).verdict == .note)
    }

    @Test("files changed since the last reload and settings that need a restart are reported with a remedy")
    func reading() {
        var reading = GetBrokerStatus.Configuration(files: ["/home/a/config.toml", "/etc/c.toml"], readOn: 1000)
        #expect(DoctorChecks.reading(reading) { _ in 1000 }.isEmpty)
        #expect(DoctorChecks.reading(nil) { _ in 2000 }.isEmpty)
        let changed = DoctorChecks.reading(reading) { $0 == "/etc/c.toml" ? 1001 : nil }
        #expect(changed.map(\.text) == ["/etc/c.toml was changed after the broker had read it."])
        #expect(changed.first?.advice == "systemctl --user reload brokerd.service")
        reading.pending = ["socket.path", "vault.key_dir"]
        let pending = DoctorChecks.reading(reading) { _ in 0 }
        #expect(pending.map(\.text) == ["socket.path, vault.key_dir takes effect after a restart."])
        #expect(pending.first?.advice == "systemctl --user restart brokerd.service")
    }

    @Test("records that were set aside, are gone or were rolled back are reported with the remedy")
    func records() {
        var vault = GetBrokerStatus.Vault()
        #expect(DoctorChecks.records(vault).isEmpty)
        vault.quarantined = 1
        vault.missing = 2
        vault.rolledBack = true
        let findings = DoctorChecks.records(vault)
        #expect(findings.count == 2 && findings.allSatisfy { $0.verdict == .bad })
        #expect(findings.first?.advice?.contains("brokerctl apps list") == true)
        #expect(findings.last?.text == "1 record is damaged or out of date and set aside, 2 records are gone.")
        #expect(findings.allSatisfy { $0.advice?.contains("brokerctl cache accept-restore") == true })
    }

    @Test("a second or locked vault, a missing browser and an unsynchronized clock are reported")
    func others() {
        let vaults = DoctorChecks.vaults("/a/vault.db", isLocked: true, others: ["/a/vault.db", "/b/vault.db"])
        #expect(vaults.map(\.verdict) == [.note, .note])
        #expect(vaults.first?.advice == "brokerctl unlock" && vaults.last?.text.contains("/b/vault.db") == true)
        #expect(DoctorChecks.browser(variable: "", hasDisplay: false, hasOpener: true).verdict == .note)
        #expect(DoctorChecks.browser(variable: "firefox", hasDisplay: false, hasOpener: false).verdict == .good)
        #expect(DoctorChecks.clock("no\n")?.verdict == .note)
        #expect(DoctorChecks.clock("yes\n")?.verdict == .good && DoctorChecks.clock(nil) == nil)
    }

    @Test("a broker that answers is good, and an app whose program is gone is noted")
    func healthy() async throws {
        let app =
            #"{"name":"mail","clientId":"c","authority":"urn:none","scopes":[],"executables":["/nowhere/app"],"#
            + #""units":[],"sandboxIds":[],"confidential":false}"#
        let broker = try broker([
            "broker.status": ScriptedAnswers.status, "apps.list": #"{"apps":[\#(app)]}"#,
            "keys.status": #"{"source":"key-file","available":["key-file"],"resealing":false}"#,
        ])
        let result = try await brokerctl(["--socket", broker.path, "doctor"])
        #expect(result.status == .exited(0), "\(result)")
        #expect(result.output.contains("Version 0.1.0 answers at \(broker.path)."), "\(result)")
        #expect(result.output.contains("/nowhere/app does not exist yet"), "\(result)")
        let json = try await brokerctl(["--socket", broker.path, "doctor", "--json"]).json
        let findings = try #require(json["findings"] as? [[String: Any]])
        #expect(findings.first?["verdict"] as? String == "good")
    }

    @Test(
        "a broker that refuses to list its apps, or is locked, is good, and the refusal is noted",
        arguments: ["accessDenied", "locked"])
    func unlisted(kind: String) async throws {
        let broker = try ScriptedBroker { peer in
            while let request = peer.request() {
                if request.method == "broker.status" {
                    peer.answer(request, ScriptedAnswers.status)
                } else {
                    peer.fail(request, kind, message: "Not now.")
                }
            }
        }
        let result = try await brokerctl(["--socket", broker.path, "doctor", "--json"])
        #expect(result.status == .exited(0), "\(result)")
        let findings = try #require(result.json["findings"] as? [[String: Any]])
        #expect(findings.first?["verdict"] as? String == "good")
        #expect(findings.contains { $0["subject"] as? String == "Vault" })
        let apps = try #require(findings.first { $0["subject"] as? String == "Apps" })
        #expect(apps["verdict"] as? String == "note" && apps["text"] as? String == "Not now.")
    }

    @Test("doctor and status report a running version that differs from the installed one")
    func otherVersion() async throws {
        let broker = try broker([
            "broker.status": ScriptedAnswers.status.replacing(BrokerVersion.text, with: "0.0.9"),
            "apps.list": #"{"apps":[]}"#,
            "keys.status": #"{"source":"key-file","available":["key-file"],"resealing":false}"#,
        ])
        for command in ["doctor", "status"] {
            let result = try await brokerctl(["--socket", broker.path, command])
            #expect(result.succeeded, "\(result)")
            let words = result.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(words.contains("broker is 0.0.9, the installed one \(BrokerVersion.text)."), "\(result)")
        }
    }

    @Test("without a broker, doctor says how to start one and exits with 1, in JSON as well")
    func absent() async throws {
        let result = try await brokerctl(["--socket", "/nowhere/broker.sock", "doctor"])
        #expect(result.status == .exited(1) && result.errors.isEmpty, "\(result)")
        #expect(result.output.contains("BAD   Broker"), "\(result)")
        let json = try await brokerctl(["--socket", "/nowhere/broker.sock", "doctor", "--json"])
        #expect(json.status == .exited(1) && json.json["findings"] != nil, "\(json)")
    }
}
