import BrokerCommandLine
import BrokerLink
import BrokerSystem
import BrokerValues
import Glibc

/// A passphrase from a pinentry program: a window or the whole terminal, which nothing else shows or reads. The protocol
/// is Assuan, line by line.
struct Pinentry {
    /// The longest line of the protocol, with its end.
    private static let longestLine = 1_000

    private let descriptor: Int32
    private let program: String

    static func passphrase(
        _ what: StaticString, isNew: Bool, from program: String
    ) throws(BrokerClientError) -> String {
        guard let ends = ChildProcess.connection() else {
            throw BrokerClientError(.unsupported, "\(program.clean) cannot be connected: \(errnoText(errno)).")
        }
        defer { close(ends[0]) }
        let child = start(program, on: ends[1])
        close(ends[1])
        guard let child else {
            throw BrokerClientError(
                .unsupported, "\(program.clean) cannot be started; name a pinentry program that is installed.")
        }
        // Ctrl-C reaches this program; the child must not keep reading the terminal.
        let terminal = TerminalSettings()
        Interrupt.onInterrupt { child.interrupt() }
        defer {
            child.reapLater()
            terminal.restore()
            Interrupt.endBy {}
        }
        return try Pinentry(descriptor: ends[0], program: program).ask(what, isNew: isNew)
    }

    /// The kernel ends it with this program (prctl(2), PR_SET_PDEATHSIG): an orphaned pinentry would keep reading the terminal.
    private static func start(_ program: String, on descriptor: Int32) -> ChildProcess? {
        guard isThere(program) else { return nil }
        let tied = ["setpriv", "--pdeathsig", "TERM", "--", program]
        return ChildProcess.start(tied, input: descriptor, output: descriptor)
            ?? ChildProcess.start([program], input: descriptor, output: descriptor)
    }

    private static func isThere(_ program: String) -> Bool {
        guard !program.contains("/") else { return access(program, X_OK) == 0 }
        let places = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
        return places.split(separator: ":").contains { access("\($0)/\(program)", X_OK) == 0 }
    }

    private func ask(_ what: StaticString, isNew: Bool) throws(BrokerClientError) -> String {
        _ = try answer()
        for option in options { _ = try? tell("OPTION " + option) }
        try tell("SETTITLE Token broker")
        try tell("SETDESC \(what)")
        try tell("SETPROMPT Passphrase:")
        guard isNew else { return try tell("GETPIN").data }
        // Not every program can ask twice by itself; for the others, ask again.
        _ = try? tell("SETREPEAT The same again:")
        let first = try tell("GETPIN")
        guard !first.isRepeated, !first.data.isEmpty else { return first.data }
        try NewPassphrase.requireLength(first.data)
        try tell("SETPROMPT The same again:")
        guard try tell("GETPIN").data == first.data else { throw NewPassphrase.differ }
        return first.data
    }

    /// The user's terminal. A window finds its display in the environment, but a terminal must be named.
    private var options: [String] {
        let terminal = [STDIN_FILENO, STDERR_FILENO, STDOUT_FILENO].lazy.compactMap { ttyname($0) }.first
        guard let terminal else { return [] }
        let kind = getenv("TERM").map { "ttytype=" + String(cString: $0) }
        return ["ttyname=" + String(cString: terminal), "lc-ctype=C.UTF-8"] + [kind].compactMap(\.self)
    }

    /// The contents of an answer.
    private struct Answer {
        var data = ""
        /// Whether the user entered it twice.
        var isRepeated = false
    }

    @discardableResult
    private func tell(_ line: String) throws(BrokerClientError) -> Answer {
        try write(line)
        return try answer()
    }

    private func write(_ line: String) throws(BrokerClientError) {
        var bytes = Array((line + "\n").utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw ended }
            bytes = bytes.dropFirst(count)
        }
    }

    private func answer() throws(BrokerClientError) -> Answer {
        var answer = Answer()
        while true {
            let line = try line()
            let rest = line.drop { $0 != " " }.dropFirst()
            switch line.prefix(while: { $0 != " " }) {
            case "OK": return answer
            case "D": answer.data += PercentEncoding.decodeForm(rest.utf8, plusIsSpace: false)
            case "S": answer.isRepeated = answer.isRepeated || rest == "PIN_REPEATED"
            // It waits for an answer. On a terminal, version 1.3 asks for the passphrase's quality at each key and does not show a
            // negative number.
            case "INQUIRE": try write(rest.hasPrefix("QUALITY") ? "D -1\nEND" : "CAN")
            // Any error means that there is no passphrase.
            case "ERR": throw BrokerClientError(.userCanceled, "No passphrase was given; nothing was changed.")
            default: continue
            }
        }
    }

    private func line() throws(BrokerClientError) -> String {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while bytes.count < Self.longestLine {
            let count = read(descriptor, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { throw ended }
            if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(byte)
        }
        throw ended
    }

    private var ended: BrokerClientError {
        BrokerClientError(.userCanceled, "\(program.clean) ended without an answer; nothing was changed.")
    }
}

/// The terminal's settings before another program used it.
private struct TerminalSettings {
    private let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
    private var settings = termios()
    private let isKnown: Bool

    init() { isKnown = tcgetattr(terminal, &settings) == 0 }

    func restore() {
        var settings = settings
        if isKnown { tcsetattr(terminal, TCSADRAIN, &settings) }
        if terminal >= 0 { close(terminal) }
    }
}
