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
                try services.broker.currentAccount(of: request.app, in: request.partition)
            },
            .waiting(RemoveAccount.self) { request throws(BrokerError) in
                RemoveAccount.Result(
                    removed: Int64(
                        try await services.broker.remove(
                            request.params.account, from: request.app, in: request.partition)))
            },
            .waiting(SignOutAccount.self) { request throws(BrokerError) in
                SignOutAccount.Result(
                    stages: try await services.broker.signOut(SignOutRequest(request)) {
                        request.notify(InteractionOpen.self, $0)
                    })
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
