import BrokerAccess
import BrokerModel
import BrokerRPC
import BrokerSocket
import BrokerValues
import Logging
import Synchronization

/// Asks the person in their browser about callers that wait for an answer.
package final class BrowserConsent: Sendable {
    /// Lifetime of the page in seconds.
    private static let patience: Int64 = 300

    private let policy: AccessPolicy
    private let audit: AuditLog
    private let allowance: CallerAllowance
    private let pages: LoopbackConsentPages
    private let browser: any BrowserOpener
    private let names: @Sendable (Partition) -> PeopleNames
    /// Ids of the accounts signed in to an app.
    private let accounts: @Sendable (AppRegistration, Partition) -> [String]
    private let log: Logger
    private let state: Mutex<State>

    private struct State {
        var isOn: Bool
        /// Callers with an open page, and whether they have asked for more meanwhile: that is for the next page.
        var asked: [CallerIdentity: Bool] = [:]
    }

    package init(
        policy: AccessPolicy, audit: AuditLog, allowance: CallerAllowance, pages: LoopbackConsentPages,
        browser: any BrowserOpener, isOn: Bool,
        names: @escaping @Sendable (Partition) -> PeopleNames,
        accounts: @escaping @Sendable (AppRegistration, Partition) -> [String], log: Logger
    ) {
        self.policy = policy
        self.audit = audit
        self.allowance = allowance
        self.pages = pages
        self.browser = browser
        self.names = names
        self.accounts = accounts
        self.log = log
        state = Mutex(State(isOn: isOn))
    }

    private var grants: GrantStore { policy.grants }

    /// Takes effect with the next question.
    package func apply(isOn: Bool) { state.withLock { $0.isOn = isOn } }

    /// Opens a page about everything that the caller asks for, unless one is open. It does not wait for the answer.
    func ask(about caller: Caller) {
        guard policy.pageApproval(about: caller) != .none else { return }
        let begins = state.withLock { state in
            guard state.isOn else { return false }
            let isAsked = state.asked[caller.identity] != nil
            state.asked[caller.identity] = isAsked
            return !isAsked
        }
        guard begins else { return }
        Task {
            // A caller that asked for more learns the result of the earlier page while the next one is open.
            var earlier: ConsentPage?
            repeat {
                let page = await show(caller)
                await earlier?.close()
                earlier = page
            } while asksForMore(caller.identity)
            await earlier?.close()
        }
    }

    private func asksForMore(_ caller: CallerIdentity) -> Bool {
        state.withLock { state in
            guard state.asked[caller] == true else {
                state.asked[caller] = nil
                return false
            }
            state.asked[caller] = false
            return true
        }
    }

    /// - Returns: the page, when all its requests are answered or its time is over.
    private func show(_ caller: Caller) async -> ConsentPage? {
        do {
            let requests = try grants.list(in: caller.partition).requests.filter { $0.caller == caller.identity }
            guard let first = requests.first else { return nil }
            try allowance.take(for: caller)
            let names = names(caller.partition)
            let question = ConsentQuestion(
                caller: caller.identity, facts: first.facts,
                requests: requests.map { request in
                    ConsentQuestion.Request(
                        app: request.app, clientID: request.clientID, authority: request.authority,
                        account: request.accountID.map { names[$0] ?? $0 },
                        people: people(request, in: caller.partition).map { names[$0] ?? $0 }, scopes: request.scopes)
                })
            let page = try await pages.open(question) { [self] answer in
                await settle(requests, answer, of: caller)
            }
            do {
                try await browser.open(page.url)
                let end = grants.deadline(in: Self.patience)
                for request in requests { _ = await grants.answer(to: request.id, in: caller.partition, until: end) }
            } catch {
                tell(of: error)
            }
            return page
        } catch let error as BrokerError where error.kind == .throttled {
            // The caller is not notified, and can get here as often as it likes.
            log.debug("the person is not asked in a browser again so soon", metadata: ["caller": "\(caller.id)"])
        } catch {
            tell(of: error)
        }
        return nil
    }

    private func tell(of failure: any Error) {
        log.notice("the person could not be asked in a browser", metadata: ["cause": "\(failure)"])
    }

    /// The accounts that a request without an account is for.
    private func people(_ request: GrantRequest, in partition: Partition) -> [String] {
        guard request.accountID == nil, let app = try? grants.app(of: request.id, in: partition) else { return [] }
        return accounts(app, partition)
    }

    /// Settles all requests on the page: a caller that has asked for more since has another request.
    private func settle(
        _ requests: [GrantRequest], _ answer: ConsentAnswer, of caller: Caller
    ) async -> ConsentOutcome {
        var settled: [String] = []
        do throws(BrokerError) {
            for request in requests where isOpen(request, of: caller) {
                switch answer {
                case .denied: try grants.deny(request: request.id, in: caller.partition)
                case .allowed(let lifetime):
                    try await confirm(request, caller)
                    let terms = GrantStore.Terms(lifetime: lifetime)
                    _ = try await grants.approve(request: request.id, terms, in: caller.partition)
                }
                settled.append(request.app)
                note(request, answer, caller)
            }
            guard settled.count == requests.count else {
                return .failed(counts(for: settled) + "The rest was answered elsewhere, or another page asks for more.")
            }
            return answer == .denied ? .denied : .allowed
        } catch {
            return .failed(counts(for: settled) + error.message)
        }
    }

    private func counts(for settled: [String]) -> String {
        settled.isEmpty ? "" : "Your answer counts for \(settled.joined(separator: ", ")) only. "
    }

    private func isOpen(_ request: GrantRequest, of caller: Caller) -> Bool {
        (try? grants.app(of: request.id, in: caller.partition)) != nil
    }

    /// Confirms this request alone: another one on the page needs its own confirmation.
    private func confirm(_ request: GrantRequest, _ caller: Caller) async throws(BrokerError) {
        guard policy.pageApproval(about: caller) != .whole else { return }
        let question = PresenceQuestion(ApproveGrant.name, caller: request.caller.id, apps: [request.app])
        try await policy.requirePresence(question, of: caller)
    }

    /// The person is no caller: the entry names the subject of the question.
    private func note(_ request: GrantRequest, _ answer: ConsentAnswer, _ caller: Caller) {
        var event = AuditEvent(method: answer == .denied ? "grants.deny" : "grants.approve", outcome: "done")
        event.app = request.app
        event.account = request.accountID
        event.scopes = request.scopes
        event.detail = "about this caller, answered on the page in the browser, request \(request.id)"
        audit.note(event, by: caller, nil)
    }
}
