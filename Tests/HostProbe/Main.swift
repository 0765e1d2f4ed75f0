import BrokerAccess
import BrokerHost
import BrokerModel
import BrokerSocket
import BrokerSystem
import CBrokerLinux
import Glibc
import Logging

/// Performs one action of BrokerHost in a process of its own and prints the result.
@main
enum HostProbe {
    static func main() async {
        switch CommandLine.arguments.dropFirst().first {
        case "activation": activation()
        case "notify": notify()
        case "harden": harden()
        case "memory": memory()
        case "children": await children()
        case "environment": await environment()
        case "log": log()
        case "unguarded": unguarded()
        case "unlocked": unlocked()
        case "watchdog": await WatchdogProbe.run(socket: CommandLine.arguments[2])
        case "callers": callers(at: CommandLine.arguments[2], runtimeDirectory: CommandLine.arguments[3])
        default: exit(2)
        }
    }

    private static func activation() {
        do {
            let sockets = try SocketActivation.take(with: ["door.socket", "other-door.socket"])
            say("socket \(sockets?.main.path ?? "none")")
            for (name, door) in (sockets?.others ?? [:]).sorted(by: { $0.key < $1.key }) {
                say("\(name) \(door.path ?? "none")")
            }
        } catch {
            say("refused \(error)")
        }
        let left: [String] = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"].filter { hasVariable($0) }
        say("variables left: \(left.joined(separator: " "))")
    }

    private static func notify() {
        let manager = ServiceManager()
        say("watchdog \(manager.watchdogInterval.map { "\($0)" } ?? "none")")
        manager.ready(status: "Serving 3 connections\nWATCHDOG=trigger")
        manager.reloading(monotonicMicroseconds: 42)
        manager.ready(status: "Serving")
        manager.watchdogPing()
        manager.stopping()
        say("done")
    }

    /// Stays until its input ends, so that a test can inspect the process.
    private static func harden() {
        for outcome in ProcessHardening.apply() {
            say("\(outcome.measure.rawValue): \(outcome.failure.map { "errno \($0)" } ?? "holds")")
        }
        say("inspection: \(broker_is_open_to_inspection() == 0 ? "refused" : "allowed")")
        var ends: [Int32] = [0, 0]
        pipe(&ends)
        close(ends[0])
        say("write to a closed pipe: \(write(ends[1], "x", 1) < 0 && errno == EPIPE ? "an error" : "a surprise")")
        say("next descriptor: \(open("/dev/null", O_RDONLY))")
        say("ready")
        _ = readLine()
    }

    /// Prints the memory of many blocks in full, after 99 of 100 are freed, and after the release.
    private static func memory() {
        let blocks = (0..<40_000).map { _ in
            UnsafeMutableRawPointer.allocate(byteCount: 2_000, alignment: 16).initializeMemory(
                as: UInt8.self, repeating: 1, count: 2_000)
        }
        say("\(ResidentMemory.bytes() ?? 0)")
        for (index, block) in blocks.enumerated() where index % 100 != 0 { block.deallocate() }
        say("\(ResidentMemory.bytes() ?? 0)")
        ResidentMemory.release()
        say("\(ResidentMemory.bytes() ?? 0)")
        for index in stride(from: 0, to: blocks.count, by: 100) { blocks[index].deallocate() }
    }

    /// Inspects each client, at its first byte as at the last moment before an answer, and prints the result.
    private static func callers(at path: String, runtimeDirectory: String) {
        let inspector = LinuxPeerInspector(runtimeDirectory: runtimeDirectory)
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard let address = UnixAddress(path: path) else { return say("\(path) is too long") }
        let bound = address.withPointer { bind(listener, $0, $1) }
        guard bound == 0, listen(listener, 16) == 0 else { return say("no socket: errno \(errno)") }
        say("listening")
        while true {
            let peer = accept(listener, nil, nil)
            guard let credentials = try? PeerCredentials(ofSocket: peer) else { return say("no credentials") }
            var byte: UInt8 = 0
            _ = read(peer, &byte, 1)
            let caller = Caller(inspector.inspect(credentials))
            say("caller \(caller.tier) \(caller.mayAdminister ? "administers" : "may not") \(caller.id)")
            close(peer)
        }
    }

    /// Runs a program repeatedly, while a lingering socket is closed, each time a little later.
    private static func children() async {
        guard broker_keep_low_descriptors() == 0 else { return say("low descriptors are not kept") }
        for moment in 0..<100 {
            guard let lingering = LingeringSocket() else { return say("no socket: errno \(errno)") }
            let code = DetachedThread.start {
                usleep(useconds_t(moment * 10))
                close(lingering.descriptor)
            }
            guard code == 0 else { return say("no thread: errno \(code)") }
            guard lingering.descriptor >= BROKER_OWN_DESCRIPTORS else { return say("a low number") }
            guard await ChildProgram(words: ["/bin/true"]).run().isWell else { return say("it did not run") }
        }
        say("all ran")
    }

    /// Prints the environment left here, and that of a started program.
    private static func environment() async {
        ProcessEnvironment.keep { $0 == "KEPT" }
        say("here: \(ProcessEnvironment.current().keys.sorted().joined(separator: " "))")
        say("secret of libraries: \(hasVariable("SSLKEYLOGFILE"))")
        let program = ChildProgram(words: ["/usr/bin/env"], longestOutput: 1 << 16)
        guard case .ended(true, let output) = await program.run() else { return say("env did not run") }
        say(String(decoding: output, as: UTF8.self))
    }

    private static func log() {
        let log = BrokerLog(level: .info)
        say("destination \(log.destination.rawValue)")
        var logger = log.logger(label: "probe")
        logger[metadataKey: "app"] = "mail"
        logger.warning("first\nSecond: forged", metadata: ["correlationID": "a b"])
        logger.warning(
            "said", metadata: ["cause": "no\"\u{301} app=wiki", "other": "\"\u{301}", "path": "a\\\" app=wiki"])
        logger.debug("not wanted")
        log.level = .debug
        logger.debug("wanted now")
    }

    /// Removes the memory for guarded pages, and makes secrets all the same.
    private static func unguarded() {
        UnguardedSecrets.whenMore { say("told of \($0)") }
        let count = 700
        var secrets: [Secret] = []
        secrets.reserveCapacity(count)
        // Leaves room for the secrets' own objects.
        for room in (0..<4).map({ _ in malloc(64 << 10) }) { free(room) }
        guard let size = ownSize(), limitMemory(to: size) else { return say("no limit") }
        for number in 0..<count { secrets.append(Secret("secret \(number)")) }
        guard limitMemory(to: .max) else { return say("still limited") }
        let isWhole = secrets.enumerated().allSatisfy { $1 == Secret("secret \($0)") }
        say("unguarded \(UnguardedSecrets.count) of \(count), \(isWhole ? "all there" : "not all there")")
    }

    /// Makes more secrets than it may lock memory for.
    private static func unlocked() {
        UnguardedSecrets.whenMore { say("told of \($0)") }
        let secrets = (0..<100).map { Secret(String(repeating: "s", count: 3_000 + $0)) }
        say("unlocked \(UnguardedSecrets.count) for \(secrets.count)")
    }

    private static func ownSize() -> rlim_t? {
        let file = open("/proc/self/statm", O_RDONLY)
        defer { close(file) }
        var text = [UInt8](repeating: 0, count: 64)
        _ = read(file, &text, text.count)
        let pages = rlim_t(String(decoding: text.prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self))
        return pages.map { $0 * rlim_t(getpagesize()) }
    }

    private static func limitMemory(to size: rlim_t) -> Bool {
        var limit = rlimit(rlim_cur: size, rlim_max: .max)
        return setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0
    }

    /// Flushes at once, as the line buffer may not be emptied: a test waits for the words.
    private static func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = write(STDOUT_FILENO, bytes, bytes.count)
    }

    private static func hasVariable(_ name: String) -> Bool { getenv(name) != nil }
}
