import BrokerAccess
import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerValues

/// `accounts.…`.
struct AccountHandlers: Sendable {
    let broker: TokenBroker
    let apps: AppDirectory
    let policy: AccessPolicy
    let interactions: InteractionStart

    var all: [any AnyMethodHandler] { [list, setDefault, get, current, remove, forget, signOut] }

    private var list: MethodHandler<ListAccounts> {
        .waiting(ListAccounts.self) { request throws(BrokerError) in
            ListAccounts.Result(
                accounts: try broker.accounts(
                    of: request.app, includeSignedOut: request.params.includeSignedOut, in: request.partition),
                defaultAccount: try request.app.flatMap { app throws(BrokerError) in
                    try broker.defaults.id(for: app, in: request.partition)
                })
        }
    }

    private var setDefault: MethodHandler<SetDefaultAccount> {
        .waiting(
            SetDefaultAccount.self,
            outcome: { request, result in
                let app = request.params.app
                let words: JournalText =
                    result.account.map { "\(person: $0.username) was chosen for \(app)" }
                    ?? "the default account of \(app) was cleared"
                return RequestOutcome(words: words, app: app)
            }
        ) { request throws(BrokerError) in
            let app = try apps.registered(request.params.app, in: request.partition)
            return GetAccount.Result(
                account: try await broker.defaults.choose(request.params.account, for: app, in: request.partition))
        }
    }

    private var get: MethodHandler<GetAccount> {
        .waiting(GetAccount.self) { request throws(BrokerError) in
            GetAccount.Result(
                account: try broker.account(request.params.account, of: request.app, in: request.partition))
        }
    }

    private var current: MethodHandler<GetCurrentAccount> {
        .waiting(
            GetCurrentAccount.self,
            outcome: { _, _ in RequestOutcome(words: "\(GetCurrentAccount.name)", level: .debug, audited: .nothing) }
        ) { request throws(BrokerError) in
            try await broker.currentAccount(of: request.app, in: request.partition)
        }
    }

    private var remove: MethodHandler<RemoveAccount> {
        .waiting(
            RemoveAccount.self,
            outcome: { request, result in
                RequestOutcome(
                    words: "\(result.removed) tokens of \(person: request.params.account.name) were removed")
            }
        ) { request throws(BrokerError) in
            RemoveAccount.Result(
                removed: Int64(
                    try await broker.remove(request.params.account, from: request.app, in: request.partition)))
        }
    }

    private var forget: MethodHandler<ForgetAccount> {
        .waiting(
            ForgetAccount.self,
            outcome: { request, result in
                RequestOutcome(words: "\(person: request.params.account.name) was erased with \(result.tokens) tokens")
            }
        ) { request throws(BrokerError) in
            let account = try broker.account(request.params.account, of: nil, in: request.partition)
            return try await policy.grants.revokeGrants(
                for: Set([account?.id].compactMap(\.self)), in: request.partition
            ) { () throws(BrokerError) in
                try await broker.erasure.run(
                    request.params.account, revoke: request.params.revoke, correlationID: request.correlationID,
                    in: request.partition)
            }
        }
    }

    private var signOut: MethodHandler<SignOutAccount> {
        .waiting(
            SignOutAccount.self,
            outcome: { request, result in
                let account = try? broker.account(request.params.account, of: nil, in: request.partition)
                return .signedOut(account?.username ?? request.params.account.name, result.stages)
            }
        ) { request throws(BrokerError) in
            var asked = SignOutRequest(request)
            asked.presentation = interactions.presentation(asked.presentation, for: request.context.caller)
            if asked.fromBrowser {
                // Opens a page of the provider, like a sign-in.
                try policy.require(.interactive, of: request.context.caller)
                try interactions.begin(asked.presentation, for: request.context.caller)
            }
            return SignOutAccount.Result(
                stages: try await broker.signOut(asked) { request.context.notify(InteractionOpen.self, $0) })
        }
    }
}

extension SignOutRequest {
    fileprivate init(_ request: Request<SignOutAccount>) {
        let params = request.params
        self.init(partition: request.partition, account: params.account, correlationID: request.correlationID)
        app = request.app
        wipe = params.wipe
        revoke = params.revoke
        fromBrowser = params.fromBrowser
        extraQueryParameters = params.extraQueryParameters
        presentation = params.presentation
        timeout = params.timeout
        claimant = request.context.caller.claimant
        isOutside = request.context.caller.isOutside
    }
}

extension RequestOutcome {
    fileprivate static func signedOut(_ account: String, _ stages: SignOutStages) -> RequestOutcome {
        let parts = [
            ("this app", stages.local), ("all apps", stages.wipe), ("revocation", stages.revocation),
            ("browser", stages.browser),
        ]
        let words = parts.compactMap { name, outcome -> String? in
            switch outcome {
            case .skipped: nil
            case .done: "\(name) done"
            case .failed(let why): "\(name) failed: \(why)"
            }
        }
        return RequestOutcome(words: "\(person: account) signed out (\(words.joined(separator: ", ")))")
    }
}

extension AccountReference {
    /// The account as named by the caller.
    fileprivate var name: String {
        switch self {
        case .id(let name), .username(let name): name
        }
    }
}
