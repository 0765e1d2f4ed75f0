import BrokerLink
import BrokerSystem
import Glibc

/// The session that this program belongs to, among those that its person may have: two desktops at one seat, one far away.
struct DesktopSession: Sendable {
    /// logind's name of it; nil where there is no logind, or none that knows.
    private let id: String?

    static func own() async -> DesktopSession {
        if let id = SocketLocation.variable("XDG_SESSION_ID") { return DesktopSession(id: id) }
        // A unit of the user's manager is in no session, and for the one with the person's screen.
        let answer = await property("Id", of: "auto")
        return DesktopSession(id: answer?.split(separator: "\"").dropFirst().first.map(String.init))
    }

    /// Whether the person sees it: of those at a seat one is in front. True where nobody can tell.
    func isInFront() async -> Bool {
        guard let id else { return true }
        return await Self.property("Active", of: Self.pathElement(id)) != "b false"
    }

    /// Of logind, as `busctl` writes it: the type, then the value.
    private static func property(_ name: String, of session: String) async -> String? {
        let text = await ChildProcess.output(of: [
            "busctl", "--system", "get-property", "org.freedesktop.login1",
            "/org/freedesktop/login1/session/\(session)", "org.freedesktop.login1.Session", name,
        ])
        return text?.split(separator: "\n").first.map(String.init)
    }

    /// As sd_bus_path_encode(3) has it: what is no letter or digit, and a digit at the start, is escaped.
    private static func pathElement(_ id: String) -> String {
        id.utf8.enumerated().map { place, byte in
            let character = Character(Unicode.Scalar(byte))
            let isPlain = character.isASCII && (character.isLetter || character.isNumber && place > 0)
            return isPlain ? String(character) : "_" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }

    // MARK: Among several

    /// One program for each session: two would ask everything twice. Taken until the process ends.
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

/// Whose turn it is to ask: the session in front has it, and of several that a person may see at once the first.
struct SessionTurn: Sendable {
    private let session: DesktopSession
    /// Locked by who has the turn; negative where there is no folder for it, and everybody has it.
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
