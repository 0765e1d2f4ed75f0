import BrokerModel
import BrokerValues

extension AccessPolicy {
    /// What the person has to confirm before the request is let in; nil where they need not.
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
            do throws(BrokerError) {
                let listing = try directory.list(in: partition).filter { $0.lists(sandbox: name) }.map(\.name)
                let granted = try grants.list(in: partition).grants
                    .filter { $0.caller == CallerIdentity(tier: .sandboxed, id: name) }.map(\.app)
                let apps = Set(listing + granted).sorted()
                return apps.isEmpty ? nil : PresenceQuestion(method, caller: name, apps: apps)
            } catch {
                return PresenceQuestion(method, caller: name)
            }
        }
    }

    /// How an answer on a page in the browser counts. Every program of the person's can read a page's address where the browser's
    /// arguments are shown, and answer in their place.
    package enum PageApproval: Sendable, Equatable {
        /// As it is: those programs may administer anyhow.
        case whole
        /// Once the person has shown that they are there, for this request alone.
        case confirmed
        /// Nothing: no page is shown.
        case none
    }

    /// - Parameter caller: whom a page would be about.
    package func worthOfPage(about caller: Caller) -> PageApproval {
        guard settings.adminProof != .outside else { return .whole }
        return caller.tier == .sandboxed ? .confirmed : .none
    }

    /// Waits for the person behind a caller. Whoever calls this looks at the caller again afterwards: the process that was asked
    /// about has to be the one that connected.
    ///
    /// - Throws: `accessDenied` (`presenceRequired`) when nobody could be asked, `userCanceled` also when the task was.
    package func requirePresence(_ question: PresenceQuestion, of caller: Caller) async throws(BrokerError) {
        let answer = await presenceTurns.run(of: caller.partition) { [presence] in
            await presence?.ask(question, process: caller.facts.pid, uid: caller.facts.uid)
                ?? .unavailable("this broker asks nobody")
        }
        let message: String
        switch answer {
        case .shown: return
        case nil: throw BrokerError(.userCanceled, "Whoever asked for this has gone; nothing was changed.")
        case .notShown:
            throw BrokerError(
                .userCanceled,
                "You did not show that you are there, which this needs here (admin.proof); nothing was changed."
            )
        case .nobodyAsks:
            message = "nobody can ask you; do it at a desktop, or on a terminal that pkttyagent can ask on"
        case .unavailable(let why):
            message = "polkit cannot ask you (\(why)); install polkitd and the file token-broker.policy"
        }
        throw BrokerError(
            .accessDenied,
            "This needs you to show that you are there (admin.proof), and \(message).",
            reason: .presenceRequired
        ) { $0.caller = caller.id }
    }
}
