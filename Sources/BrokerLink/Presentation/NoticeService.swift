import BrokerSystem

/// The program that shows notices in this session. It is looked up on the bus with `busctl`: brokerctl has no D-Bus of its own.
package enum NoticeService: Sendable, Equatable {
    /// Its own name on the bus: another one after a restart.
    case runs(String)
    /// There is none, and the bus knows none that it could start.
    case isMissing
    /// There is no `busctl`.
    case cannotBeTold

    /// Has the bus start one where none runs.
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

    /// - Returns: nil when there is no such program.
    private static func call(
        _ method: String, _ signature: String, _ more: String...
    ) async -> (status: Int32, text: String)? {
        let bus = "org.freedesktop.DBus"
        let words =
            ["busctl", "--user", "call", bus, "/org/freedesktop/DBus", bus, method, signature]
            + ["org.freedesktop.Notifications"] + more
        return await withCheckedContinuation { continuation in
            let status = DetachedThread.start { continuation.resume(returning: ChildProcess.report(of: words)) }
            if status != 0 { continuation.resume(returning: nil) }
        }
    }
}
