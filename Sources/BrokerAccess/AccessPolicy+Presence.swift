import BrokerModel
import BrokerValues

extension AccessPolicy {
    /// Whether the person has to show that they are there, for what matters most.
    package var asksForPresence: Bool { settings.adminProof == .presence }

    /// Waits for the person behind a caller. Whoever calls this looks at the caller again afterwards: the process that was asked
    /// about has to be the one that connected.
    ///
    /// - Throws: `accessDenied` (`presenceRequired`) when nobody could be asked, `userCanceled` also when the task was.
    package func requirePresence(for method: String, of caller: Caller) async throws(BrokerError) {
        let answer = await presenceTurns.run(of: caller.partition) { [presence] in
            await presence?.ask(for: method, process: caller.facts.pid, uid: caller.facts.uid)
                ?? .unavailable("this broker asks nobody")
        }
        let message: String
        switch answer {
        case .shown: return
        case nil: throw BrokerError(.userCanceled, "Whoever asked for this has gone; nothing was changed.")
        case .notShown:
            throw BrokerError(
                .userCanceled,
                "You did not show that you are there, which this needs here (admin.proof is presence); nothing was changed."
            )
        case .nobodyAsks:
            message = "nobody can ask you; do it at a desktop, or on a terminal that pkttyagent can ask on"
        case .unavailable(let why):
            message = "polkit cannot ask you (\(why)); install polkitd and the file token-broker.policy"
        }
        throw BrokerError(
            .accessDenied,
            "This needs you to show that you are there (admin.proof is presence), and \(message).",
            reason: .presenceRequired
        ) { $0.caller = caller.id }
    }
}
