/// The program that shows notifications in this session. It is looked up with `busctl`: brokerctl has no D-Bus client of its own.
package enum NoticeService: Sendable, Equatable {
    /// Its unique name on the bus, which changes with a restart.
    case runs(String)
    /// There is none, and none that the bus could start.
    case isMissing
    /// There is no `busctl`.
    case cannotBeTold

    /// Makes the bus start one if none runs.
    package static func look() async -> NoticeService {
        if let owner = await owner() { return owner }
        guard await call("StartServiceByName", "su", "0") != nil else { return .cannotBeTold }
        return await owner() ?? .isMissing
    }

    private static func owner() async -> NoticeService? {
        guard let answer = await call("GetNameOwner", "s"), answer.status == 0 else { return nil }
        // s ":1.5"
        return answer.text.split(separator: "\"").dropFirst().first.map { .runs(String($0)) }
    }

    /// - Returns: `nil` if there is no such program.
    private static func call(
        _ method: String, _ signature: String, _ more: String...
    ) async -> (status: Int32, text: String)? {
        let bus = "org.freedesktop.DBus"
        let words =
            ["busctl", "--user", "call", bus, "/org/freedesktop/DBus", bus, method, signature]
            + ["org.freedesktop.Notifications"] + more
        return await ChildProcess.reportLater(of: words)
    }
}
