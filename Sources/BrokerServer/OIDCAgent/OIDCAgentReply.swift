import BrokerEngine
import BrokerModel
import BrokerOIDCAgent
import BrokerRPC
import BrokerValues

/// The answer in oidc-agent's format, sealed if its request was.
struct OIDCAgentReply: Reply {
    private let question: OIDCAgentQuestion
    private let exchange: AgentExchange
    private let vault: any RecordVault
    /// The bytes to send.
    private(set) var bytes: [UInt8] = []

    init(_ question: OIDCAgentQuestion, _ exchange: AgentExchange, from vault: any RecordVault) {
        (self.question, self.exchange, self.vault) = (question, exchange, vault)
    }

    var isAwaited: Bool { true }

    mutating func give(_ answer: Answer, correlationID: String) throws(BrokerError) {
        var writer = JSONWriter()
        switch (answer, question.request) {
        case (.token(let token), .token(let asked)): try write(token, asked.kind, to: &writer)
        case (.value(let status as GetBrokerStatus.Result), .status): AgentReply.done(text(status), to: &writer)
        case (.value(let status as GetBrokerStatus.Result), .statusJSON):
            AgentReply.status(version: status.version, isLocked: status.locked, apps: question.apps, to: &writer)
        case (_, .loadedAccounts): AgentReply.names(question.apps, to: &writer)
        case (.value(let state as LockState), _):
            AgentReply.done(state.locked ? "Agent locked" : "Agent unlocked", to: &writer)
        default: AgentReply.done("The broker answers", to: &writer)
        }
        bytes = exchange.answer(&writer)
    }

    mutating func fail(_ error: BrokerError) {
        if let failure = question.failure, question.error?.kind == error.kind { return fail(failure) }
        if error.kind == .appNotFound, case .token(let asked) = question.request,
            case .account(let name) = asked.subject
        {
            fail(.unknown(account: name))
        } else {
            fail(AgentFailure(error, app: question.app, for: question.request))
        }
    }

    /// An unusable name is answered as not registered; other errors get their own text.
    mutating func refuse(_ error: RPCError) {
        guard case .token(let asked) = question.request else {
            return fail(AgentFailure(BrokerError(.invalidParameter, error.message), app: nil))
        }
        if error.data?.field == "app", case .account(let name) = asked.subject { return fail(.unknown(account: name)) }
        fail(AgentFailure(BrokerError(.invalidParameter, error.message), app: question.app))
    }

    private mutating func fail(_ failure: AgentFailure) { bytes = exchange.answer(failure) }

    private func write(
        _ token: AcquiredToken, _ kind: AgentTokenRequest.Kind, to writer: inout JSONWriter
    ) throws(BrokerError) {
        guard let sealed = kind == .access ? token.token.sealed : token.idToken else {
            throw BrokerError(
                .unsupported,
                "The provider gave no ID token for this account; its app asks for openid at the next sign-in.")
        }
        do throws(VaultError) {
            try vault.withSecret(of: sealed) {
                AgentReply.token(kind, $0, issuer: token.authority, expiresAt: token.expiresOn, to: &writer)
            }
        } catch {
            throw BrokerError(error)
        }
    }

    private func text(_ status: GetBrokerStatus.Result) -> String {
        let apps = question.apps.map { SafeText($0, atMost: 100).text }.joined(separator: ", ")
        let lock = status.locked ? "locked" : "open"
        return "token-broker \(status.version), \(lock). Accounts: \(apps.isEmpty ? "none" : apps)\n"
    }
}
