import BrokerModel
import BrokerValues

extension AccessPolicy {
    /// The question that the person must confirm before the request is admitted; `nil` if none.
    package func question(for method: String, _ need: PresenceNeed, of caller: Caller) -> PresenceQuestion? {
        guard settings.adminProof == .presence else { return nil }
        let partition = caller.partition
        switch need {
        case .none: return nil
        case .always(let caller, let apps): return PresenceQuestion(method, caller: caller, apps: apps)
        case .approval(let id):
            let request = try? grants.list(in: partition).requests.first { $0.id == id }
            return PresenceQuestion(method, caller: request?.caller.id, apps: [request?.app].compactMap(\.self))
        case .sandbox(let name):
            let listing = directory.apps(in: partition).filter { $0.lists(sandbox: name) }.map(\.name)
            let granted = try? grants.list(in: partition).grants
                .filter { $0.caller == CallerIdentity(tier: .sandboxed, id: name) }.map(\.app)
            return PresenceQuestion(method, caller: name, apps: Set(listing + (granted ?? [])).sorted())
        }
    }

    /// - Throws: `locked`.
    package func requireUnlocked() throws(BrokerError) {
        guard gate.isOpen else { throw .locked }
    }

    /// How an answer on a browser page counts. Every program of the user can read the address of a page from the browser's
    /// arguments, and answer in the person's place.
    package enum PageApproval: Sendable, Equatable {
        /// The answer counts in full: those programs may administer anyway.
        case whole
        /// The answer counts for this request alone, after the person has proved their presence.
        case confirmed
        /// No page is shown: its answer would not count, or the caller has no right to pages.
        case none
    }

    /// How much an answer on a page about a caller counts.
    ///
    /// - Parameter caller: the subject of the page.
    package func pageApproval(about caller: Caller) -> PageApproval {
        // Each request from another machine would open one here.
        if caller.elsewhere != nil, caller.lacks(.interactive) { return .none }
        guard settings.adminProof != .outside else { return .whole }
        return caller.tier == .sandboxed ? .confirmed : .none
    }

    /// Asks the person behind a caller to prove their presence, and waits for the answer. Inspect the caller again afterwards: the
    /// process that the question was about must still be the one that connected.
    ///
    /// - Throws: `accessDenied` (`presenceRequired`) if no one could be asked, `userCanceled` also if the task was canceled,
    ///   `serverUnavailable` if the broker stops.
    package func requirePresence(_ question: PresenceQuestion, of caller: Caller) async throws(BrokerError) {
        let answer = await presenceTurns.run(of: caller.partition) { [presence] in
            await presence?.ask(question, process: caller.facts.pid, uid: caller.facts.uid)
                ?? .unavailable("this broker asks nobody")
        }
        let message: String
        switch answer {
        case .answered(.shown): return
        case .canceled: throw .callerWentAway
        case .brokerStops: throw .stopping
        case .answered(.notShown):
            throw BrokerError(
                .userCanceled,
                "You did not show that you are there, which this needs here (admin.proof); nothing was changed."
            )
        case .answered(.nobodyAsks):
            message = "nobody can ask you; do it at a desktop, or on a terminal that pkttyagent can ask on"
        case .answered(.unavailable(let why)):
            message = "polkit cannot ask you (\(why)); install polkitd and the file token-broker.policy"
        }
        throw .denied(
            caller, "This needs you to show that you are there (admin.proof), and \(message).", .presenceRequired)
    }
}
