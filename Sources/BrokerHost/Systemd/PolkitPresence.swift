import BrokerBus
import BrokerModel
import BrokerSystem
import BrokerValues
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

    private static let service = "org.freedesktop.PolicyKit1"
    private static let patience = Duration.seconds(120)

    private static func askWaiting(
        _ question: PresenceQuestion, _ process: Int32, _ started: UInt64, _ uid: UInt32
    ) -> PresenceAnswer {
        do throws(BusError) {
            let bus = try Bus(.system)
            let subject = Subject(process: process, started: started, uid: uid)
            do throws(BusError) {
                return try check(question, subject, message(for: question), on: bus)
            } catch {
                // polkit takes a text from root and the action's owner only; otherwise it shows the action's own.
                guard error.name == "\(service).Error.NotAuthorized" else { throw error }
                return try check(question, subject, nil, on: bus)
            }
        } catch {
            return error.isSilence ? .notShown : .unavailable(shown(error.text))
        }
    }

    private struct Subject {
        let process: Int32
        /// The start of the process in clock ticks since boot, by which polkit recognizes that a pid was reused.
        let started: UInt64
        let uid: UInt32
    }

    private static func check(
        _ question: PresenceQuestion, _ subject: Subject, _ message: String?, on bus: Bus
    ) throws(BusError) -> PresenceAnswer {
        let method = Bus.Method(
            "CheckAuthorization", of: "\(service).Authority", at: "/org/freedesktop/PolicyKit1/Authority",
            service: service)
        let answer = try bus.call(method, within: patience) { arguments throws(BusError) in
            try arguments.inside("r", "sa{sv}") { () throws(BusError) in
                try arguments.string("unix-process")
                try arguments.inside("a", "{sv}") { () throws(BusError) in
                    try arguments.entry("pid", "u") { () throws(BusError) in
                        try arguments.number(UInt32(bitPattern: subject.process))
                    }
                    try arguments.entry("start-time", "t") { () throws(BusError) in
                        try arguments.number(subject.started)
                    }
                    // Without it polkit would look it up by the pid.
                    try arguments.entry("uid", "i") { () throws(BusError) in
                        try arguments.number(Int32(bitPattern: subject.uid))
                    }
                }
            }
            try arguments.string(action(question.method))
            let apps = question.apps.joined(separator: ", ")
            let details: KeyValuePairs<String, String> =
                if let message {
                    ["polkit.message": message, "caller": shown(question.caller), "app": shown(apps)]
                } else {
                    [:]
                }
            try arguments.words(details)
            // AllowUserInteraction
            try arguments.number(UInt32(1))
            try arguments.string("")
        }
        let (isAuthorized, isChallenge) =
            try answer.inside("r", "bba{ss}") { () throws(BusError) in
                let answers = (try answer.flag(), try answer.flag())
                try answer.skip("a{ss}")
                return answers
            } ?? (false, false)
        if isAuthorized { return .shown }
        // A person would have to be asked, and there is no agent that asks for the process.
        return isChallenge ? .nobodyAsks : .notShown
    }

    /// The text that polkit shows instead of the action's own. Polkit fills in `$(caller)` and `$(app)` itself, once: text chosen
    /// by others is never expanded.
    private static func message(for question: PresenceQuestion) -> String? {
        switch (question.caller, question.apps.isEmpty) {
        case (_?, false): "Authentication is required to let $(caller) have tokens of the app $(app)."
        case (nil, false):
            "Authentication is required to register or change the app $(app), which says who may have its tokens."
        case (_?, true): "Authentication is required to open a socket for the sandbox $(caller)."
        case (nil, true): nil
        }
    }

    private static func shown(_ text: String?) -> String { text.map { SafeText($0, atMost: 300, .mark).text } ?? "" }

    /// The start of a process, in clock ticks since boot.
    private static func start(of process: Int32) -> UInt64? {
        guard let folder = ProcessFolder.open(pid: process) else { return nil }
        return folder.statField(22).flatMap { UInt64($0) }
    }
}
