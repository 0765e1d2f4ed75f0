import BrokerTestSupport
import DevIdentityProvider
import Foundation
import Testing

/// A booted systemd with the broker installed by `make install`, and a user.
struct SystemdLab: Sendable {
    static let user = "ada"
    /// Where the checkout and its programs are mounted inside, readable for all users and independent of their place outside.
    private static let (sources, programs) = ("/srv/token-broker", "/srv/token-broker-programs")

    private let bed: TestBed
    private let state: String
    private let boot: ManagedProcess

    /// Boots it, installs the programs that were built with the tests, and lets the user's manager start.
    ///
    /// - Parameter installing: whether the broker is already installed.
    static func boot(
        in bed: TestBed, on root: LabRoot = .tested, installing: Bool = true
    ) async throws -> SystemdLab {
        if let missing = LabSupport.missing { throw ProcessFailure(missing) }
        let state = try bed.makeDirectory("lab")
        let libraries = try await swiftLibraries(in: bed)
        let shown = try [libraries, "\(PackageTree.root.path):\(sources)", "\(builtPrograms):\(programs)"]
        let boot = try bed.start(Launch(script, ["boot", state, try await root.folder(in: bed)] + shown), as: "lab")
        let lab = SystemdLab(bed: bed, state: state, boot: boot)
        try await lab.expect("ready", state)
        // The same in all labs: a home may go from one to another.
        try await lab.add(user, uid: 4_000)
        if installing { try await lab.install() }
        return lab
    }

    // MARK: Inside

    /// Runs a program as root, and throws its output if it fails.
    @discardableResult
    func root(_ command: String...) async throws -> String { try await root(command) }

    @discardableResult
    func root(_ command: [String]) async throws -> String { try await expect(["run", state] + command) }

    /// Runs a program as root; it may fail.
    func rootAttempt(_ command: String...) async throws -> CommandResult { try await rootAttempt(command) }

    func rootAttempt(_ command: [String]) async throws -> CommandResult {
        try await bed.run(Launch(Self.script, ["run", state] + command))
    }

    /// Runs a program as the user, and throws its output if it fails.
    @discardableResult
    func user(_ command: String..., as name: String = user) async throws -> String {
        try await expect(["as", state, name] + command)
    }

    /// Runs a program as the user; it may fail.
    func attempt(_ command: String..., as name: String = user) async throws -> CommandResult {
        try await attempt(command, as: name)
    }

    func attempt(_ command: [String], as name: String = user) async throws -> CommandResult {
        try await bed.run(Launch(Self.script, ["as", state, name] + command))
    }

    /// Starts a program as the user, with which the test interacts while it runs.
    func start(_ command: String..., as name: String = user, hasInput: Bool = false) throws -> ManagedProcess {
        try bed.start(Launch(Self.script, ["as", state, name] + command, hasInput: hasInput), as: "user")
    }

    /// Starts a program as root, with which the test interacts while it runs.
    func startAsRoot(_ command: String...) throws -> ManagedProcess {
        try bed.start(Launch(Self.script, ["run", state] + command), as: "root")
    }

    /// Registers an app of the development provider, with the scope `notes.read`.
    func addApp(_ app: String, at provider: RunningProvider, as name: String = user) async throws {
        try await user(
            "brokerctl", "apps", "add", app, "--client-id", "demo-one", "--authority", provider.issuer,
            "--scope", "notes.read", as: name)
    }

    /// Registers an app of a provider that nobody asks.
    func addApp(_ app: String, as name: String = user) async throws {
        try await user(
            "brokerctl", "apps", "add", app, "--client-id", "c", "--authority", "https://login.example.org",
            "--no-check", as: name)
    }

    /// Signs alice in, without a browser of the machine's.
    func signIn(_ app: String, at provider: RunningProvider, as name: String = user) async throws {
        let login = try start("brokerctl", "login", "--app", app, "--no-browser", as: name)
        try await login.waitForText("/authorize?")
        let url = try #require(login.outputText.firstMatch(of: /http:\S+/)).output
        try await visit(provider.signIn(.alice, at: String(url), in: bed).url, as: name)
        #expect(await login.exitStatus() == .exited(0), "\(login.logTail)")
    }

    /// Opens a page like the user's browser: the broker accepts no redirect from another user's.
    func visit(_ url: String, as name: String = user) async throws {
        try await user("curl", "-q", "--silent", "--show-error", "--globoff", "--noproxy", "*", "--", url, as: name)
    }

    /// One property of a user's unit.
    func property(
        _ name: String, of unit: String = "brokerd.service", as person: String = user
    ) async throws -> String {
        let text = try await user("systemctl", "--user", "show", "--value", "--property", name, unit, as: person)
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Waits until systemd knows that the broker is ready: a client that waited at the socket may be answered before.
    func serves() async throws {
        try await eventually("systemd knows that the broker serves") { try await property("ActiveState") == "active" }
    }

    /// Another account.
    func add(_ name: String, uid: Int? = nil) async throws {
        let number = uid.map { ["--uid", "\($0)"] } ?? []
        try await root(["useradd", "--create-home", "--shell", "/bin/bash"] + number + [name])
    }

    func uid(of name: String = user) async throws -> String {
        try await root("id", "-u", name).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Hangs the user's manager.
    ///
    /// - Returns: its process id, for `kill -CONT`.
    func stopManager(of name: String = user) async throws -> String {
        let manager = try await root(
            "systemctl", "show", "--value", "--property=MainPID", "user@\(uid(of: name)).service"
        ).trimmingCharacters(in: .whitespacesAndNewlines)
        try await root("kill", "-STOP", manager)
        return manager
    }

    /// Waits for the process that talks to the user's hung manager, which must have no terminal.
    func expectNoTerminalAtManager(of name: String = user) async throws {
        let speakers = "pgrep -u \(name) -x '(systemctl|systemd-stdio-b.*)'"
        try await eventually("a process talks to the manager") {
            try await rootAttempt("sh", "-c", speakers).succeeded
        }
        let held = try await root(
            "sh", "-c", "for pid in $(\(speakers)); do ls -l /proc/$pid/fd; ps -o pid=,tty= -p $pid; done")
        #expect(!held.contains("pts/") && held.contains(#/ \?/#), "\(held)")
    }

    /// Writes a unit of the user, or a part of one.
    func unit(_ path: String, _ text: String, as name: String = user) async throws {
        try await user(
            "sh", "-c",
            """
            file=~/.config/systemd/user/$1
            mkdir -p "${file%/*}" && printf '%s' "$2" > "$file" && systemctl --user daemon-reload
            """, "sh", path, text, as: name)
    }

    /// A desktop, as a session manager starts one.
    func startDesktop() async throws {
        try await unit(
            "desktop.service",
            """
            [Unit]
            BindsTo=graphical-session.target
            Before=graphical-session.target
            [Service]
            ExecStart=sleep infinity
            """)
        try await user("systemctl", "--user", "start", "desktop.service")
    }

    func configure(_ text: String) async throws {
        try await user(
            "sh", "-c", "mkdir -p ~/.config/brokerd && printf '%s' \"$1\" > ~/.config/brokerd/config.toml", "sh", text)
    }

    /// The journal's entries of the broker, oldest first; every field a string.
    ///
    /// A program's output is in the journal only after the journal's daemon has read it.
    func journal() async throws -> [[String: String]] {
        try await root("journalctl", "--sync")
        let lines = try await root(
            "journalctl", "--quiet", "--output=json", "_SYSTEMD_USER_UNIT=brokerd.service", "+",
            "USER_UNIT=brokerd.service")
        return try lines.split(separator: "\n").map { line in
            let entry = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return (entry ?? [:]).compactMapValues { $0 as? String }
        }
    }

    /// Copies a file from outside to where it is visible inside.
    ///
    /// - Returns: its path there.
    func bring(_ file: String) async throws -> String {
        let path = "/root/" + URL(filePath: file).lastPathComponent
        try await bed.require("cp", [file, place(path)])
        return path
    }

    /// The path outside of a file inside.
    func place(_ path: String) async throws -> String {
        try await expect("root", state).trimmingCharacters(in: .newlines) + path
    }

    /// Ends it before the test does.
    func shut() async { await boot.stop() }

    // MARK: Setting up

    static let script = PackageTree.fixture("systemd-lab")

    private func install() async throws {
        let root = try await place("")
        try await bed.require("make", try Self.make + ["install", "PREFIX=/usr", "DESTDIR=\(root)"])
    }

    private static var builtPrograms: String {
        get throws { URL(filePath: try PackageTree.program("brokerd")).deletingLastPathComponent().path }
    }

    /// The arguments that make `make` use the programs of this build.
    static var make: [String] {
        get throws { try ["--directory", PackageTree.root.path, "CONFIGURATION=debug", "BIN=\(builtPrograms)"] }
    }

    /// Like ``make``, for a `make` that runs inside.
    static let makeInside = ["--directory", sources, "CONFIGURATION=debug", "BIN=\(programs)"]

    @discardableResult
    private func expect(_ arguments: String...) async throws -> String { try await expect(arguments) }

    @discardableResult
    private func expect(_ arguments: [String]) async throws -> String {
        try boot.requireRunning()
        return try await bed.require(Self.script, arguments)
    }

    /// The location of the language's shared libraries, which programs of a debug build load.
    private static func swiftLibraries(in bed: TestBed) async throws -> String {
        let needed = try await bed.require("ldd", [PackageTree.program("brokerd")])
        let library = try #require(needed.firstMatch(of: /=> (\/\S+)\/libswiftCore\.so/))
        return String(library.output.1)
    }
}
