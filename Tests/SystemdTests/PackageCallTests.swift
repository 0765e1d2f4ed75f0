import BrokerTestSupport
import Foundation
import Testing

/// The effect of each call of the maintainer scripts on logged-in users: the table of docs/operations.md.
@Suite("dpkg, while users are logged in", .needsPackages)
struct PackageCallTests {
    @Test("exactly the users with the socket enabled keep it after every call that leaves the package installed")
    func calls() async throws {
        try await withTestBed { bed in
            let lab = try await SystemdLab.boot(in: bed, installing: false)
            try await lab.add("eve")
            try await lab.user("systemctl", "--user", "mask", "brokerd.socket", as: "eve")
            let newer = try await DebianPackages.changed("token-broker", in: bed)

            try await lab.install("token-broker")
            try await eventually("the socket listens") { try await lab.hasSocket() }
            try await lab.user("brokerctl", "status")
            let opened = try await lab.socketOpened()
            try await lab.dpkg("--install", newer)
            // Back to the previous version, and that once more.
            for _ in 1...2 { try await lab.install("token-broker") }
            // The installed package's script fails: dpkg tries the new package's, and continues.
            for script in ["prerm", "postrm"] {
                try await lab.root("sh", "-c", "echo exit 1 >> /var/lib/dpkg/info/token-broker.\(script)")
                try await lab.dpkg("--install", newer)
                try await lab.install("token-broker")
            }
            let failing = try await DebianPackages.changed("token-broker", in: bed, scripts: ["preinst": "exit 1"])
            #expect(try await !lab.dpkgAttempt("--install", failing).succeeded)
            let breaking = try await DebianPackages.make("breaking", "Breaks: token-broker", in: bed)
            // It reports that the other one cannot stay configured.
            #expect(try await !lab.dpkgAttempt("--auto-deconfigure", "--install", breaking).succeeded)
            try await lab.dpkg("--remove", "breaking")
            try await lab.dpkg("--configure", "--pending")
            #expect(try await lab.socketOpened() == opened, "a call closed the socket")
            try await lab.user("brokerctl", "status")

            // A removal that fails halfway.
            let script = "/var/lib/dpkg/info/token-broker.prerm"
            try await lab.root("sh", "-c", "cp \(script) /root/prerm && echo exit 1 >> \(script)")
            #expect(try await !lab.dpkgAttempt("--remove", "token-broker").succeeded)
            try await eventually("the socket listens again") { try await lab.hasSocket() }
            try await lab.root("cp", "/root/prerm", script)

            try await lab.dpkg("--remove", "token-broker")
            try await eventually("the socket is gone") { try await !lab.hasSocket() }
            try await lab.install("token-broker")
            try await eventually("the socket listens again") { try await lab.hasSocket() }
            try await lab.user("brokerctl", "status")
            #expect(try await lab.property("ActiveState", of: "brokerd.socket", as: "eve") == "inactive")

            // Units that users enabled themselves are dangling links after a purge.
            try await lab.user("systemctl", "--user", "enable", "brokerd.socket")
            try await lab.dpkg("--purge", "token-broker")
            let links = try await lab.user("find", "/home/\(SystemdLab.user)/.config/systemd", "-name", "brokerd*")
            #expect(links.isEmpty, "\(links)")
            try await eventually("their managers know no such unit") {
                try await lab.property("LoadState", of: "brokerd.socket") == "not-found"
            }
        }
    }

    @Test("dpkg waits for no unit and no manager of a user, and exposes root's terminal to none")
    func waitsForNobody() async throws {
        try await withTestBed { bed in
            let lab = try await SystemdLab.boot(in: bed, installing: false)
            try await lab.add("eve")
            try await lab.user("true", as: "eve")
            try await lab.install("token-broker")
            for name in [SystemdLab.user, "eve"] {
                try await lab.unit(
                    "brokerd.service.d/slow.conf", "[Service]\nExecStop=sleep infinity\nTimeoutStopSec=infinity\n",
                    as: name)
                try await lab.user("brokerctl", "status", as: name)
            }
            let manager = try await lab.stopManager(of: "eve")
            let newer = try await lab.bring(DebianPackages.changed("token-broker", in: bed))
            let upgrade = try lab.startAsRoot(
                "script", "--quiet", "--return", "--command", "dpkg --install \(newer)", "/dev/null")
            try await lab.expectNoTerminalAtManager(of: "eve")
            #expect(await upgrade.exitStatus() == .exited(0), "\(upgrade.outputText)")
            try await lab.dpkg("--remove", "token-broker")
            try await lab.root("kill", "-CONT", manager)
        }
    }

    @Test("a newer daemon alone leaves the other packages in place, and the machine's broker runs it at once")
    func companions() async throws {
        try await withTestBed { bed in
            let lab = try await SystemdLab.boot(in: bed, installing: false)
            for package in ["token-broker", "token-broker-session", "token-broker-system"] {
                try await lab.install(package)
            }
            try await lab.root("brokerctl", "status")
            let before = try await lab.service("MainPID")
            let newer = try await lab.bring(DebianPackages.changed("token-broker", in: bed))
            try await lab.root("apt-get", "install", "--yes", newer)
            for package in ["token-broker", "token-broker-session", "token-broker-system"] {
                let status = try await lab.root("dpkg-query", "--show", "--showformat=${db:Status-Status}", package)
                #expect(status == "installed", "\(package)")
            }
            try await eventually("the machine's broker is another process") {
                let (state, now) = try await (lab.service("ActiveState"), lab.service("MainPID"))
                return state == "active" && now != before
            }
        }
    }

    @Test("after its removal the package for the desktop leaves an entry that starts nothing")
    func desktopEntry() async throws {
        try await withTestBed { bed in
            let lab = try await SystemdLab.boot(in: bed, installing: false)
            for package in ["token-broker", "token-broker-session"] { try await lab.install(package) }
            let condition = "sed -n s/^TryExec=//p /etc/xdg/autostart/brokerd-session.desktop"
            let program = try await lab.root("sh", "-c", condition).trimmingCharacters(in: .whitespacesAndNewlines)
            try await lab.root("test", "-x", program)
            try await lab.dpkg("--remove", "token-broker-session")
            #expect(try await lab.root("sh", "-c", condition) == program + "\n")
            #expect(try await !lab.rootAttempt("test", "-e", program).succeeded)
            try await lab.root("test", "-x", "/usr/bin/brokerctl")
        }
    }

    @Test("with the machine's broker users have none of their own by default, and both are reported")
    func oneForAll() async throws {
        try await withTestBed { bed in
            let lab = try await SystemdLab.boot(in: bed, installing: false)
            try await lab.install("token-broker")
            func mode() async throws -> String {
                try await lab.user("brokerctl", "--json", "status").contains("\"mode\":\"user\"") ? "user" : "system"
            }
            try await eventually("the person has one") { try await lab.hasSocket() }
            #expect(try await mode() == "user")
            try await lab.install("token-broker-system")
            try await eventually("the person has none") { try await !lab.hasSocket() }
            #expect(try await mode() == "system")
            try await lab.add("bob")
            #expect(try await !lab.hasSocket(of: "bob"))
            let variables = try await lab.user("systemctl", "--user", "show-environment", as: "bob")
            #expect(!variables.contains("OIDC_SOCK"), "\(variables)")
            #expect(try await !lab.attempt("brokerctl", "doctor").output.contains("brokerd.socket does not listen"))

            try await lab.unit("brokerd.socket.d/own.conf", "[Unit]\nConditionPathExists=\n")
            try await lab.user("systemctl", "--user", "start", "brokerd.socket")
            for command in ["status", "doctor"] {
                let told = try await lab.attempt("brokerctl", command).output
                #expect(told.contains("The machine's broker listens at /run/brokerd/broker.sock"), "\(told)")
            }
            let opened = try await lab.property("ActiveEnterTimestampMonotonic", of: "brokerd.socket")
            try await lab.dpkg("--install", DebianPackages.changed("token-broker-system", in: bed))
            // It waits for a restart that was queued.
            try await lab.user("systemctl", "--user", "start", "brokerd.socket")
            #expect(try await lab.property("ActiveEnterTimestampMonotonic", of: "brokerd.socket") == opened)
            try await lab.user("rm", "/home/\(SystemdLab.user)/.config/systemd/user/brokerd.socket.d/own.conf")

            try await lab.dpkg("--remove", "token-broker-system")
            for name in [SystemdLab.user, "bob"] {
                try await eventually("\(name) has one again") { try await lab.hasSocket(of: name) }
            }
            let said = try await lab.dpkg("--purge", "token-broker-system")
            #expect(said.contains("The account brokerd stays"), "\(said)")
        }
    }
}

extension SystemdLab {
    @discardableResult
    func dpkg(_ arguments: String...) async throws -> String {
        let result = try await dpkgAttempt(arguments)
        guard result.succeeded else { throw ProcessFailure("dpkg \(arguments): \(result)") }
        return result.output
    }

    /// Copies a package into the lab.
    func dpkgAttempt(_ arguments: String...) async throws -> CommandResult {
        try await dpkgAttempt(arguments)
    }

    private func dpkgAttempt(_ arguments: [String]) async throws -> CommandResult {
        var inside: [String] = []
        for argument in arguments { inside.append(argument.hasSuffix(".deb") ? try await bring(argument) : argument) }
        return try await rootAttempt(["dpkg"] + inside)
    }

    fileprivate func hasSocket(of name: String = user) async throws -> Bool {
        try await attempt("sh", "-c", "test -S $XDG_RUNTIME_DIR/brokerd/broker.sock", as: name).succeeded
    }

    fileprivate func socketOpened() async throws -> String {
        try await property("ActiveEnterTimestampMonotonic", of: "brokerd.socket")
    }
}

extension DebianPackages {
    /// The package with a higher version, and with other scripts.
    static func changed(_ package: String, in bed: TestBed, scripts: [String: String] = [:]) async throws -> String {
        let place = bed.path(bed.unique("changed"))
        try await bed.require("dpkg-deb", ["--raw-extract", file(package, in: folder), place])
        try await bed.require("sed", ["-i", #"s/^Version: .*/&+test/"#, "\(place)/DEBIAN/control"])
        return try await build(place, scripts, in: bed)
    }

    /// A package without other files than its scripts.
    static func make(
        _ package: String, _ relation: String, in bed: TestBed, scripts: [String: String] = [:]
    ) async throws -> String {
        let place = try bed.makeDirectory(bed.unique(package))
        try FileManager.default.createDirectory(atPath: "\(place)/DEBIAN", withIntermediateDirectories: true)
        let control = """
            Package: \(package)
            Version: 1
            Architecture: all
            Maintainer: Test <test@example.org>
            Description: test
            \(relation)

            """
        try control.write(toFile: "\(place)/DEBIAN/control", atomically: true, encoding: .utf8)
        return try await build(place, scripts, in: bed)
    }

    private static func build(_ place: String, _ scripts: [String: String], in bed: TestBed) async throws -> String {
        for (name, text) in scripts {
            try "#!/bin/sh\n\(text)\n".write(toFile: "\(place)/DEBIAN/\(name)", atomically: true, encoding: .utf8)
            try await bed.require("chmod", ["755", "\(place)/DEBIAN/\(name)"])
        }
        try await bed.require("chmod", ["-R", "go-w", place])
        try await bed.require("dpkg-deb", ["--root-owner-group", "-Znone", "--build", place, "\(place).deb"])
        return "\(place).deb"
    }
}
