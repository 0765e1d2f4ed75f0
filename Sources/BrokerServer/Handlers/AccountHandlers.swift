import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerValues

/// `accounts.…`.
struct AccountHandlers: Sendable {
    let services: ServerServices

    var all: [AnyHandler] {
        [
            .waiting(ListAccounts.self) { request throws(BrokerError) in
                ListAccounts.Result(
                    accounts: try services.broker.accounts(
                        of: request.app, includeSignedOut: request.params.includeSignedOut, in: request.partition))
            },
            .waiting(GetAccount.self) { request throws(BrokerError) in
                GetAccount.Result(
                    account: try services.broker.account(
                        request.params.account, of: request.app, in: request.partition))
            },
            .waiting(GetCurrentAccount.self) { request throws(BrokerError) in
                let answer = try services.broker.currentAccount(of: request.app, in: request.partition)
                return GetCurrentAccount.Result(current: answer.current, previous: answer.previous)
            },
            .waiting(RemoveAccount.self) { request throws(BrokerError) in
                RemoveAccount.Result(
                    removed: Int64(
                        try await services.broker.remove(
                            request.params.account, from: request.app, in: request.partition)))
            },
            .waiting(SignOutAccount.self) { request throws(BrokerError) in
                let stages = try await services.broker.signOut(SignOutRequest(request)) {
                    request.notify(InteractionOpen.self, InteractionOpen.Params($0))
                }
                return SignOutAccount.Result(stages: SignOutAccount.Stages(stages))
            },
        ]
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
        presentation = params.presentation
        timeout = params.timeout
    }
}

extension SignOutAccount.Stages {
    fileprivate init(_ stages: SignOutStages) {
        self.init()
        local = Self.word(stages.local)
        wipe = Self.word(stages.wipe)
        revocation = Self.word(stages.revocation)
        browser = Self.word(stages.browser)
    }

    private static func word(_ outcome: SignOutStages.Outcome) -> String {
        switch outcome {
        case .done: "done"
        case .skipped: "skipped"
        case .failed(let why): "failed: \(why)"
        }
    }
}
