import BrokerModel
import BrokerSystem
import CDesktop
import Glibc

/// Asks by polkit, whose agent the person's desktop has, or `pkttyagent` on a terminal.
package struct PolkitPresence: PresenceAuthority {
    package init() {}

    /// What polkit calls a method's action; systemd/token-broker.policy has them.
    package static func action(_ method: String) -> String { "token-broker.\(method.lowercased())" }

    package func ask(for method: String, process: Int32, uid: UInt32) async -> PresenceAnswer {
        guard let started = Self.start(of: process) else { return .notShown }
        return await withCheckedContinuation { continuation in
            let code = DetachedThread.start {
                continuation.resume(returning: Self.askWaiting(Self.action(method), process, started, uid))
            }
            if code != 0 { continuation.resume(returning: .unavailable(errnoText(code))) }
        }
    }

    private static func askWaiting(
        _ action: String, _ process: Int32, _ started: UInt64, _ uid: UInt32
    ) -> PresenceAnswer {
        var text = [CChar](repeating: 0, count: 256)
        switch broker_presence_ask(action, process, started, uid, &text, text.count) {
        case BROKER_PRESENCE_SHOWN: return .shown
        case BROKER_PRESENCE_NOBODY_ASKS: return .nobodyAsks
        case BROKER_PRESENCE_UNAVAILABLE:
            return .unavailable(
                String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
        default: return .notShown
        }
    }

    /// In clock ticks since boot (proc(5), stat, 22). The program's name may hold anything, so what follows it counts.
    private static func start(of process: Int32) -> UInt64? {
        guard let folder = ProcessFolder.open(pid: process), let text = folder.text("stat", limit: 4096).value,
            let end = text.lastIndex(of: ")")
        else { return nil }
        let rest = text[end...].split(separator: " ")
        return rest.count > 20 ? UInt64(rest[20]) : nil
    }
}
