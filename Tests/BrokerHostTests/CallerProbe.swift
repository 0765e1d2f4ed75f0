import BrokerTestSupport
import Foundation

/// A process that inspects its clients (Tests/HostProbe), and callers made like an attacker's. All of them run as an ordinary
/// user: root would see facts that a broker does not.
struct CallerProbe: Sendable {
    /// How the connection is made (`attack.py`).
    enum Attack: String {
        case plain
        /// A child connects and exits; its parent writes.
        case exited
        /// The same, without a wait for the child.
        case zombie
        /// The first thread ends and another one continues.
        case leader
        /// PR_SET_DUMPABLE 0: the links of /proc/PID are closed.
        case undumpable
        /// Connects, and then becomes a program of the system.
        case exec
        /// Connects, and then becomes a program that is in no file system.
        case memory
    }

    /// Resolved: the target of /proc/PID/exe.
    static let python = URL(filePath: "/usr/bin/python3").resolvingSymlinksInPath().path
    static let user = "65534"

    let bed: TestBed
    let socket: String
    /// Replaces `$XDG_RUNTIME_DIR`.
    let runtimeDirectory: String
    private let process: ManagedProcess

    fileprivate init(in bed: TestBed) async throws {
        self.bed = bed
        let folder = bed.path("user")
        socket = folder + "/socket"
        runtimeDirectory = folder + "/run"
        try FileManager.default.createDirectory(atPath: runtimeDirectory, withIntermediateDirectories: true)
        for path in [folder, runtimeDirectory] { _ = chown(path, 65534, 65534) }
        try Self.script.write(toFile: bed.path("attack.py"), atomically: true, encoding: .utf8)
        let probe = try bed.sharedProgram("host-probe")
        process = try bed.start(
            Launch("setpriv", Self.asUser + [probe, "callers", socket, runtimeDirectory]), as: "probe")
        try await process.waitForText("listening")
    }

    private static let asUser = ["--reuid=\(user)", "--regid=\(user)", "--clear-groups", "--"]

    /// - Parameter sandbox: the command that starts the attacker, as the user.
    /// - Returns: `TIER RIGHT ID`, as printed by the probe.
    func judge(_ attack: Attack, in sandbox: [String] = []) async throws -> String {
        try await judge(sandbox + [Self.python, bed.path("attack.py"), attack.rawValue, socket])
    }

    /// - Parameter command: runs as the user, after root's commands.
    func judge(asRoot before: [String] = [], _ command: [String]) async throws -> String {
        try await judge(asRootAlone: before + ["setpriv"] + Self.asUser + command)
    }

    func judge(asRootAlone words: [String]) async throws -> String {
        let seen = verdicts.count
        let attacker = try bed.start(Launch(words[0], Array(words.dropFirst())), as: "attacker")
        try await eventually("the caller is judged; its own words: \(attacker.logTail)") { verdicts.count > seen }
        await attacker.stop()
        return verdicts[seen]
    }

    /// The number of bytes that the inspecting process has read so far.
    func bytesRead() throws -> Int {
        let counts = try String(contentsOfFile: "/proc/\(process.pid)/io", encoding: .utf8)
        let line = counts.split(separator: "\n").first { $0.hasPrefix("rchar: ") }
        return line.flatMap { Int($0.dropFirst(7)) } ?? 0
    }

    private var verdicts: [String] {
        process.outputText.split(separator: "\n").filter { $0.hasPrefix("caller ") }.map { String($0.dropFirst(7)) }
    }

    private static let script = """
        import ctypes, os, socket, sys, threading, time
        attack, path = sys.argv[1:3]
        libc = ctypes.CDLL(None)
        peer = socket.socket(socket.AF_UNIX)
        if attack == 'undumpable':
            libc.prctl(4, 0, 0, 0, 0)
        if attack in ('exited', 'zombie'):
            child = os.fork()
            if child == 0:
                peer.connect(path)
                os._exit(0)
            if attack == 'exited':
                os.waitpid(child, 0)
            else:
                os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
            peer.send(b'x')
        elif attack == 'leader':
            peer.connect(path)
            def later():
                while open('/proc/self/stat').read().rpartition(') ')[2][0] != 'Z':
                    os.sched_yield()
                peer.send(b'x')
                time.sleep(60)
            threading.Thread(target=later).start()
            libc.pthread_exit(0)
        elif attack == 'reused':
            # The last number that was given out can be set where nobody else takes the next one meanwhile.
            while True:
                peer = socket.socket(socket.AF_UNIX)
                child = os.fork()
                if child == 0:
                    os.setresuid(65534, 65534, 65534)
                    peer.connect(path)
                    os._exit(0)
                os.waitpid(child, 0)
                with open('/proc/sys/kernel/ns_last_pid', 'w') as last:
                    last.write(str(child - 1))
                again = os.fork()
                if again == 0:
                    os.setresuid(65534, 65534, 65534)
                    libc.prctl(1, 9, 0, 0, 0)
                    time.sleep(60)
                    os._exit(0)
                if again == child:
                    break
                os.kill(again, 9)
                os.waitpid(again, 0)
            peer.send(b'x')
        elif attack in ('exec', 'memory'):
            program = sys.argv[3] if len(sys.argv) > 3 else '/usr/bin/yes'
            if attack == 'memory':
                memory = os.memfd_create('yes')
                os.write(memory, open(program, 'rb').read())
                program = f'/proc/self/fd/{memory}'
            peer.connect(path)
            os.dup2(peer.fileno(), 1)
            os.execv(program, ['yes'])
        else:
            peer.connect(path)
            peer.send(b'x')
        time.sleep(60)
        """
}

func withCallerProbe(_ body: (CallerProbe) async throws -> Void) async throws {
    try await withTestBed { bed in
        try Prerequisite.root.require()
        try await body(try await CallerProbe(in: bed))
    }
}
