import BrokerTestSupport
import Foundation
import Testing

/// A real sshd on the loopback, with separate users: it alone sees their file of accounts in place of /etc/passwd. The person
/// who logs in has a key, and an ssh with a configuration that knows the machine as `devbox`.
struct FarMachine {
    struct User {
        let name: String
        let shell: String
        let uid: UInt32
        /// In the format of crypt(3); it matches no password.
        var password = "*"
    }

    let bed: TestBed
    private(set) var daemon: ManagedProcess
    private let launch: Launch
    /// First in `PATH`: the person's ssh.
    let programs: String
    private let folder: String
    /// The person's private folder: it is removed with the test, even if a program was killed.
    private let runtime: String

    static let user = User(name: "far", shell: "/bin/bash", uid: 12_400)

    /// - Parameters:
    ///   - settings: lines of sshd_config.
    ///   - configuration: lines of the person's ssh_config about the machine.
    static func start(
        in bed: TestBed, users: [User] = [user], settings: [String] = [], configuration: [String] = []
    ) async throws -> FarMachine {
        try Prerequisite.root.require()
        let server = try #require(Launch.find("sshd"), "install openssh-server: .ci/deps test")
        let folder = try bed.makeDirectory("far-machine")
        for path in [bed.directory.path, folder] { try chmod(0o755, path) }
        for key in ["host", "own"] {
            try await bed.require("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", "\(folder)/\(key)"])
        }
        var accounts = "root:*:0:0::/root:/bin/sh\nsshd:*:104:65534::/run/sshd:/usr/sbin/nologin\n"
        for user in users {
            let home = "\(folder)/\(user.name)"
            guard mkdir(home, 0o700) == 0, chown(home, user.uid, user.uid) == 0 else {
                throw ProcessFailure("\(home): errno \(errno)")
            }
            accounts += "\(user.name):\(user.password):\(user.uid):\(user.uid)::\(home):\(user.shell)\n"
        }
        let port = try FreePort.next()
        try accounts.write(toFile: "\(folder)/passwd", atomically: true, encoding: .utf8)
        try chmod(0o644, "\(folder)/passwd")
        try (["Port \(port)"] + Self.settings(folder) + settings).joined(separator: "\n")
            .write(toFile: "\(folder)/sshd_config", atomically: true, encoding: .utf8)
        try (["Host devbox"] + Self.configuration(folder, port) + configuration).joined(separator: "\n")
            .write(toFile: "\(folder)/ssh_config", atomically: true, encoding: .utf8)
        mkdir("/run/sshd", 0o755)
        let launch = Launch(
            "unshare",
            [
                "--mount", "--propagation", "private", "sh", "-c",
                "mount --bind '\(folder)/passwd' /etc/passwd && exec \"$@\"", "sh", server, "-D", "-e", "-f",
                "\(folder)/sshd_config",
            ])
        let far = FarMachine(
            bed: bed, daemon: try bed.start(launch, as: "sshd"), launch: launch, programs: "\(folder)/bin",
            folder: folder, runtime: try bed.makeDirectory("runtime"))
        try await far.daemon.waitForText("listening")
        try await far.install("#!/bin/sh\nexec /usr/bin/ssh -F '\(folder)/ssh_config' \"$@\"\n", as: "ssh")
        return far
    }

    /// Ends everything that runs there, at once.
    func cutPower() async throws {
        let all = try await processes(below: [daemon.pid])
        // Stopped first: no process sees the end of another.
        for signal in [SIGSTOP, SIGKILL] { for pid in all { kill(pid, signal) } }
        _ = await daemon.exitStatus()
    }

    mutating func boot() async throws {
        daemon = try bed.start(launch, as: bed.unique("sshd"))
        try await daemon.waitForText("listening")
    }

    /// A program of the person. Another process writes it: one that this process has open cannot always be executed.
    func install(_ script: String, as name: String) async throws {
        let source = "\(folder)/source-of-\(name)"
        try script.write(toFile: source, atomically: true, encoding: .utf8)
        try await bed.require("install", ["-D", "-m", "755", source, "\(programs)/\(name)"])
    }

    private static func settings(_ folder: String) -> [String] {
        [
            "ListenAddress 127.0.0.1", "HostKey \(folder)/host", "AuthorizedKeysFile \(folder)/own.pub", "PidFile none",
            "StrictModes no", "UsePAM no", "LogLevel VERBOSE",
            // The usual algorithm takes most of a login's time.
            "KexAlgorithms curve25519-sha256",
        ]
    }

    private static func configuration(_ folder: String, _ port: UInt16) -> [String] {
        [
            "HostName 127.0.0.1", "Port \(port)", "User \(user.name)", "IdentityFile \(folder)/own",
            "IdentitiesOnly yes",
            "StrictHostKeyChecking no", "UserKnownHostsFile /dev/null", "LogLevel ERROR",
        ]
    }

    func home(of user: User = user) -> String { "\(folder)/\(user.name)" }

    /// The variables with which the person's ssh is found.
    var environment: [String: String] {
        [
            "PATH": "\(programs):\(Launch.cleanEnvironment["PATH"] ?? "/usr/bin:/bin")", "XDG_RUNTIME_DIR": runtime,
        ]
    }

    /// The traces of logins on this side.
    func leftovers() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: runtime) }

    func ssh(_ words: String...) async throws -> CommandResult {
        try await bed.run(Launch("\(programs)/ssh", words))
    }

    /// The number of logins, with a key or an equivalent.
    var logins: Int { daemon.errorText.split(whereSeparator: \.isNewline).count { $0.hasPrefix("Accepted publickey") } }

    private static func chmod(_ mode: mode_t, _ path: String) throws {
        guard Glibc.chmod(path, mode) == 0 else { throw ProcessFailure("chmod \(path): errno \(errno)") }
    }
}
