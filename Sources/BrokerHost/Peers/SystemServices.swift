import CSystemd
import Glibc
import Synchronization

/// Asks the system's manager which account a service runs as. A process of a user in a service's cgroup need not be the
/// service: cron and at leave the jobs of users in their own.
final class SystemServices: Sendable {
    private struct Answer {
        var account: UInt32?
        var until: Int64
    }

    /// Answers are remembered for a moment: the account of a service can change when it is started anew.
    private let answers = Mutex<[String: Answer]>([:])
    private static let memory: Int64 = 30
    private static let limit = 64
    /// Microseconds. The bus is on this machine, and a caller waits.
    private static let patience: UInt64 = 250_000

    /// - Parameter service: `NAME.service`, of the system's manager.
    /// - Returns: nil when it is root's, or when systemd does not say.
    func account(of service: String) -> UInt32? {
        let now = Self.seconds
        if let known = answers.withLock({ $0[service] }), now < known.until { return known.account }
        let account = Self.ask(service)
        answers.withLock { answers in
            if answers.count >= Self.limit { answers = answers.filter { now < $0.value.until } }
            if answers.count >= Self.limit { answers = [:] }
            answers[service] = Answer(account: account, until: now + Self.memory)
        }
        return account
    }

    private static var seconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec)
    }

    /// The property `UID` of org.freedesktop.systemd1.Service: what `User=` came to.
    private static func ask(_ service: String) -> UInt32? {
        var bus: OpaquePointer?
        guard sd_bus_open_system(&bus) >= 0, let bus else { return nil }
        defer { sd_bus_flush_close_unref(bus) }
        guard sd_bus_set_method_call_timeout(bus, patience) >= 0 else { return nil }
        var path: UnsafeMutablePointer<CChar>?
        guard sd_bus_path_encode("/org/freedesktop/systemd1/unit", service, &path) >= 0, let path else { return nil }
        defer { free(path) }
        var account: UInt32 = .max
        let status = sd_bus_get_property_trivial(
            bus, "org.freedesktop.systemd1", path, "org.freedesktop.systemd1.Service", "UID", nil,
            CChar(UInt8(ascii: "u")), &account)
        return status >= 0 && account != .max ? account : nil
    }
}
