import BrokerAccess
import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerValues

/// `accounts.…`.
struct AccountsHarness: Sendable {
    private let services: ServerServices

    init(_ services: ServerServices) { self.services = services }

    var routes: [Route] {
        [
            .waiting(ListAccounts.self) { params, caller throws(BrokerError) in
                ListAccounts.Result(
                    accounts: try services.broker.accounts(
                        of: try viewer(params, caller), includeSignedOut: params.includeSignedOut,
                        in: caller.partition))
            },
            .waiting(GetAccount.self) { params, caller throws(BrokerError) in
                GetAccount.Result(
                    account: try services.broker.account(
                        try params.account.requiredSelector(), of: try viewer(params, caller), in: caller.partition))
            },
            .waiting(RemoveAccount.self) { params, caller throws(BrokerError) in
                guard let app = try viewer(params, caller) else { throw AppReference.missing }
                let removed = try await services.broker.remove(
                    try params.account.requiredSelector(), from: app, in: caller.partition)
                return RemoveAccount.Result(removed: Int64(removed))
            },
        ]
    }

    /// The app whose accounts are meant; nil for all of the person's, which is for the person's own tools.
    private func viewer(_ params: some AppSelecting, _ caller: Caller) throws(BrokerError) -> AppRegistration? {
        guard let selection = params.selection else {
            try PermissionGate.requireUnsandboxed(caller)
            return nil
        }
        return try services.policy.admit(caller, as: AppReference(selection))
    }
}
