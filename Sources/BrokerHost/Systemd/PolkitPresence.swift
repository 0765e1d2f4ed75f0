import BrokerModel
import BrokerSystem
import BrokerValues
import CDesktop
import Glibc

/// Asks by polkit, whose agent the person's desktop has, or `pkttyagent` on a terminal.
package struct PolkitPresence: PresenceAuthority {
    package init() {}

    /// What polkit calls a method's action; systemd/token-broker.policy has them.
    package static func action(_ method: String) -> String { "token-broker.\(method.lowercased())" }

    package func ask(_ question: PresenceQuestion, process: Int32, uid: UInt32) async -> PresenceAnswer {
        guard let started = Self.start(of: process) else { return .notShown }
        return await withCheckedContinuation { continuation in
            let code = DetachedThread.start {
                continuation.resume(returning: Self.askWaiting(question, process, started, uid))
            }
            if code != 0 { continuation.resume(returning: .unavailable(errnoText(code))) }
        }
    }

    private static func askWaiting(
        _ question: PresenceQuestion, _ process: Int32, _ started: UInt64, _ uid: UInt32
    ) -> PresenceAnswer {
        var text = [CChar](repeating: 0, count: 256)
        let answer = broker_presence_ask(
            action(question.method), process, started, uid, message(for: question), shown(question.caller),
            shown(question.apps.joined(separator: ", ")), &text, text.count)
        switch answer {
        case BROKER_PRESENCE_SHOWN: return .shown
        case BROKER_PRESENCE_NOBODY_ASKS: return .nobodyAsks
        case BROKER_PRESENCE_UNAVAILABLE:
            return .unavailable(
                String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
        default: return .notShown
        }
    }

    /// What polkit says in the place of the action's own text. It fills in `$(caller)` and `$(app)` itself, once: what others chose
    /// is never a text that it reads for such.
    private static func message(for question: PresenceQuestion) -> String? {
        switch (question.caller, question.apps.isEmpty) {
        case (_?, false): "Authentication is needed to let $(caller) have tokens of the app $(app)."
        case (nil, false):
            "Authentication is needed to register or change the app $(app), which says who may have its tokens."
        case (_, true): nil
        }
    }

    private static func shown(_ text: String?) -> String { text.map { SafeText($0, atMost: 300, .mark).text } ?? "" }

    /// In clock ticks since boot.
    private static func start(of process: Int32) -> UInt64? {
        guard let folder = ProcessFolder.open(pid: process) else { return nil }
        return folder.statField(22).flatMap { UInt64($0) }
    }
}
