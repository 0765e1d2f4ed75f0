import BrokerLink
import BrokerSystem
import Glibc

/// The session of this program. A user may have several: two desktops at one seat, one remote.
struct DesktopSession: Sendable {
    /// logind's id of the session; `nil` without logind, or if it knows none.
    private let id: String?

    static func own() async -> DesktopSession {
        if let id = SocketLocation.variable("XDG_SESSION_ID") { return DesktopSession(id: id) }
        // A unit of the user's manager is in no session, and acts for the one with the user's display.
        let answer = await property("Id", of: "auto")
        return DesktopSession(id: answer?.split(separator: "\"").dropFirst().first.map(String.init))
    }

    /// Whether it is the active session of its seat. True if unknown.
    func isInFront() async -> Bool {
        guard let id else { return true }
        return await Self.property("Active", of: Self.pathElement(id)) != "b false"
    }

    /// A property from logind, in `busctl`'s format: the type, then the value.
    private static func property(_ name: String, of session: String) async -> String? {
        let text = await ChildProcess.output(of: [
            "busctl", "--system", "get-property", "org.freedesktop.login1",
            "/org/freedesktop/login1/session/\(session)", "org.freedesktop.login1.Session", name,
        ])
        return text?.split(separator: "\n").first.map(String.init)
    }

    /// Encodes like sd_bus_path_encode(3): escapes all except letters and digits, and a leading digit.
    private static func pathElement(_ id: String) -> String {
        id.utf8.enumerated().map { place, byte in
            let character = Character(Unicode.Scalar(byte))
            let isPlain = character.isASCII && (character.isLetter || character.isNumber && place > 0)
            return isPlain ? String(character) : "_" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }

    // MARK: Several sessions

    /// Allows one program per session, because two would ask everything twice. Held until the process ends.
    func claim() -> Bool {
        let name = id.map { "-" + $0.filter { $0.isASCII && ($0.isLetter || $0.isNumber) } } ?? ""
        let descriptor = Self.open("brokerd-session\(name).lock")
        return descriptor < 0 || flock(descriptor, LOCK_EX | LOCK_NB) == 0
    }

    fileprivate static func open(_ name: String) -> Int32 {
        let folder = SocketLocation.variable("XDG_RUNTIME_DIR") ?? "/run/user/\(geteuid())"
        return Glibc.open("\(folder)/\(name)", O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
    }
}

/// The session that may ask: the active one, or the first of several active ones.
struct SessionTurn: Sendable {
    private let session: DesktopSession
    /// Locked by the session whose turn it is; negative without a runtime directory, when every session has it.
    private let descriptor: Int32

    init(_ session: DesktopSession) {
        self.session = session
        descriptor = DesktopSession.open("brokerd-session.turn")
    }

    func take() async -> Bool {
        guard await session.isInFront() else {
            end()
            return false
        }
        return descriptor < 0 || flock(descriptor, LOCK_EX | LOCK_NB) == 0
    }

    func end() {
        if descriptor >= 0 { flock(descriptor, LOCK_UN) }
    }
}
