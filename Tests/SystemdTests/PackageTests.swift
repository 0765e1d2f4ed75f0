import BrokerTestSupport
import DevIdentityProvider
import Foundation
import Testing

/// The Debian packages that `make deb` made.
@Suite("Debian packages", .needsPackages)
struct PackageTests {
    @Test(
        "installed packages serve every user, an upgrade keeps the vault, and a purge keeps users' data"
    )
    func life() async throws {
        try await withTestBed { bed in
            let provider = try await DevIdentityProvider.start(in: bed)
            let lab = try await SystemdLab.boot(in: bed, installing: false)
            try await lab.configure("[oauth]\nallow_http_loopback = true\n")

            let others = try await brokerFiles(in: lab)
            // One user logged in before, and one after. No user enables anything.
            try await lab.install("token-broker")
            try await eventually("the socket listens") {
                try await lab.property("ActiveState", of: "brokerd.socket") == "active"
            }
            try await lab.add("bob")
            try await lab.user("brokerctl", "status", as: "bob")

            try await lab.addApp("work", at: provider)
            try await lab.signIn("work", at: provider)
            let token = try await lab.user("brokerctl", "token", "--app", "work")
            try await shells(in: lab)
            try await python(in: lab, gets: token)

            let newer = try await DebianPackages.make(in: bed, suffix: "+test")
            let before = try await lab.property("MainPID")
            try await lab.install("token-broker", from: newer)
            try await eventually("the daemon is another process") {
                let (state, now) = try await (lab.property("ActiveState"), lab.property("MainPID"))
                return state == "active" && now != before
            }
            #expect(try await lab.user("brokerctl", "token", "--app", "work") == token)

            let pid = try await lab.property("MainPID")
            try await lab.root("dpkg", "--remove", "token-broker")
            try await eventually("it has ended") { try await !lab.rootAttempt("kill", "-0", pid).succeeded }
            #expect(try await !lab.attempt("bash", "-c", "command -v brokerctl").succeeded)
            try await lab.root("dpkg", "--purge", "token-broker")
            let left = try await brokerFiles(in: lab).subtracting(others)
            #expect(left.isEmpty, "\(left)")
            try await lab.user("bash", "-c", "ls ~/.local/state/brokerd/vault.db ~/.local/share/brokerd-key/*.key")
        }
    }

    /// Other packages contain files with such names, too: libraries, socat, LemonLDAP::NG.
    private func brokerFiles(in lab: SystemdLab) async throws -> Set<Substring> {
        let found = try await lab.root(
            "find", "/usr", "/etc", "/lib/systemd/", "/var/lib/systemd", "/var/lib/dpkg/info", "-iname", "*broker*")
        return Set(found.split(separator: "\n"))
    }

    /// They are where each shell of Debian looks for them, and it loads them.
    private func shells(in lab: SystemdLab) async throws {
        let bash = try await lab.user(
            "bash", "-c",
            ". /usr/share/bash-completion/bash_completion; _completion_loader brokerctl; complete -p brokerctl")
        #expect(bash.contains("-F"), "\(bash)")
        let zsh = try await lab.user(
            "zsh", "-fc", "autoload -U compinit && compinit -u -D && print $_comps[brokerctl]")
        #expect(zsh == "_brokerctl\n")
        let fish = try await lab.user("fish", "-c", "complete -C 'brokerctl stat'")
        #expect(fish.contains("status"), "\(fish)")
        let page = try await lab.user("man", "-w", "git-credential-broker")
        #expect(page.contains("/usr/share/man/man1/"), "\(page)")
    }

    /// The client for Python is a package of its own. Root's Python leaves nothing of it, compiled files included.
    private func python(in lab: SystemdLab, gets token: String) async throws {
        try await lab.install("python3-brokerclient")
        let script =
            "from brokerclient import Broker; print(Broker().acquire_token_silent('work', ['notes.read']).access_token)"
        #expect(try await lab.user("python3", "-c", script) == token)
        try await lab.root("python3", "-c", "import brokerclient.aio")
        try await lab.root("dpkg", "--purge", "python3-brokerclient")
        let left = try await lab.rootAttempt("test", "-e", "/usr/lib/python3/dist-packages/brokerclient")
        #expect(!left.succeeded)
        #expect(try await !lab.attempt("python3", "-c", "import brokerclient").succeeded)
    }

    @Test("a system broker comes with its account and socket, and a purge removes all users' tokens")
    func everybody() async throws {
        try await withTestBed { bed in
            let lab = try await SystemdLab.boot(in: bed, installing: false)
            try await lab.install("token-broker")
            try await lab.install("token-broker-system")
            // A service has no session, and so no broker of its own.
            let status = try await lab.root("brokerctl", "--json", "status")
            #expect(status.contains("\"mode\":\"system\""), "\(status)")
            #expect(try await lab.root("stat", "--format=%U %a", "/var/lib/brokerd") == "brokerd 700\n")

            try await lab.root("dpkg", "--purge", "token-broker-system")
            #expect(try await !lab.rootAttempt("pgrep", "-u", "brokerd").succeeded)
            let left = try await lab.root(
                "find", "/etc", "/usr", "/var/lib", "-iname", "*brokerd-system*")
            #expect(left.isEmpty, "\(left)")
            for folder in [
                "/var/lib/brokerd", "/var/lib/brokerd-key", "/run/brokerd", "/run/brokerd-private",
                "/run/brokerd-sandboxes",
            ] {
                #expect(try await !lab.rootAttempt("test", "-e", folder).succeeded, "\(folder)")
            }
        }
    }

    @Test("two builds from the same programs are identical, and need only Debian's libraries")
    func again() async throws {
        try await withTestBed { bed in
            let second = try await DebianPackages.make(in: bed)
            for name in ["token-broker", "token-broker-system"] {
                let (one, other) = try (
                    DebianPackages.file(name, in: DebianPackages.folder), DebianPackages.file(name, in: second)
                )
                #expect(FileManager.default.contentsEqual(atPath: one, andPath: other), "\(name)")
            }
            let place = try bed.makeDirectory("unpacked")
            try await bed.require("dpkg-deb", ["--extract", DebianPackages.file("token-broker", in: second), place])
            for (program, maximumBytes) in [("brokerd", 20 << 20), ("brokerctl", 10 << 20)] {
                let needed = try await bed.require("ldd", ["\(place)/usr/bin/\(program)"])
                let paths = needed.matches(of: /=> (\S+)/).map { String($0.1) }
                #expect(
                    !paths.isEmpty && paths.allSatisfy { $0.hasPrefix("/lib/") || $0.hasPrefix("/usr/lib/") },
                    "\(needed)")
                #expect(!needed.contains("not found"), "\(needed)")
                for linkedIn in ["libswift", "libstdc++", "libgcc"] { #expect(!needed.contains(linkedIn), "\(needed)") }
                let size =
                    try FileManager.default.attributesOfItem(atPath: "\(place)/usr/bin/\(program)")[.size] as? Int ?? 0
                #expect(size < maximumBytes, "it has grown; is something linked in that is not needed?")
                let header = try await bed.require("objdump", ["--private-headers", "\(place)/usr/bin/\(program)"])
                #expect(!header.contains("RPATH") && !header.contains("RUNPATH"), "\(header)")
                try await hardening(of: "\(place)/usr/bin/\(program)", header, in: bed)
            }
        }
    }

    /// Constants, and data that the loader relocates before the program starts, are read-only; writable memory is not executable.
    private func hardening(of program: String, _ header: String, in bed: TestBed) async throws {
        #expect(header.contains(/RELRO off/) && header.contains(/FLAGS_1 +0x0*8000001/), "\(header)")
        #expect(!header.contains("flags rwx"), "\(header)")
        let sections = try await bed.require("objdump", ["--section-headers", program])
        let constants = try #require(sections.firstMatch(of: /\.rodata .*\n +(.*)/), "\(sections)")
        #expect(constants.1.contains("READONLY"), "\(constants.0)")
    }
}

extension SystemdLab {
    func install(_ package: String, from folder: String = DebianPackages.folder) async throws {
        // This file says that another tool starts a machine's services; this machine has its own.
        try await root("rm", "--force", "/usr/sbin/policy-rc.d")
        try await root("dpkg", "--install", bring(try DebianPackages.file(package, in: folder)))
    }
}

/// The output of `make deb`.
enum DebianPackages {
    static let folder = PackageTree.root.appending(path: ".build-deb").path

    static func file(_ package: String, in folder: String) throws -> String {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        let name = try #require(names.first { $0.hasPrefix("\(package)_") && $0.hasSuffix(".deb") }, "\(names)")
        return "\(folder)/\(name)"
    }

    /// A second build, from the same programs.
    ///
    /// - Returns: the folder of the packages.
    static func make(in bed: TestBed, suffix: String = "") async throws -> String {
        let place = bed.path(bed.unique("packages"))
        let script = PackageTree.root.appending(path: ".ci/deb").path
        let made = try await bed.run(
            Launch(script, [".build-release", place], environment: ["DEB_SUFFIX": suffix]))
        guard made.succeeded else { throw ProcessFailure("\(made)") }
        return place
    }
}

extension Trait where Self == ConditionTrait {
    /// The suite installs the packages that `make deb` made.
    static var needsPackages: Self {
        let areMade = FileManager.default.fileExists(atPath: DebianPackages.folder)
        let isCI = ProcessInfo.processInfo.environment["CI"] == "true"
        return .enabled(
            if: isCI || areMade && LabSupport.shouldRun,
            Comment(rawValue: areMade ? LabSupport.missing ?? "packages are here" : "make deb was not run"))
    }
}
