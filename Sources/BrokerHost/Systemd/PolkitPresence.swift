import BrokerModel
import BrokerSystem
import BrokerValues
import CDesktop
import Glibc

/// Asks through polkit, with the agent of the person's desktop, or `pkttyagent` on a terminal.
package struct PolkitPresence: PresenceAuthority {
    package init() {}

    /// The polkit action of a method; systemd/token-broker.policy defines them.
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

    /// The text that polkit shows instead of the action's own. Polkit fills in `$(caller)` and `$(app)` itself, once: text chosen
    /// by others is never expanded.
    private static func message(for question: PresenceQuestion) -> String? {
        switch (question.caller, question.apps.isEmpty) {
        case (_?, false): "Authentication is needed to let $(caller) have tokens of the app $(app)."
        case (nil, false):
            "Authentication is needed to register or change the app $(app), which says who may have its tokens."
        case (_, true): nil
        }
    }

    private static func shown(_ text: String?) -> String { text.map { SafeText($0, atMost: 300, .mark).text } ?? "" }

    /// Clock ticks since boot.
    private static func start(of process: Int32) -> UInt64? {
        guard let folder = ProcessFolder.open(pid: process) else { return nil }
        return folder.statField(22).flatMap { UInt64($0) }
    }
}
