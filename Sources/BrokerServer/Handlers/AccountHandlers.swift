import BrokerAccess
import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerValues

/// `accounts.…`.
struct AccountHandlers: Sendable {
    private let services: ServerServices

    init(_ services: ServerServices) { self.services = services }

    var routes: [Route] {
        [
            signOut,
            .waiting(GetCurrentAccount.self) { params, caller throws(BrokerError) in
                guard let app = try viewer(params, caller) else { throw AppReference.missing }
                let answer = try services.broker.currentAccount(of: app, in: caller.partition)
                return GetCurrentAccount.Result(current: answer.current, previous: answer.previous)
            },
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

    private var signOut: Route {
        Route(method: SignOutAccount.self) { call, context, writer in
            let admitted: AdmittedRequest<SignOutAccount>
            do throws(RPCError) { admitted = try AdmittedRequest(call, context) } catch {
                writer.fail(error, call.id)
                return .answered
            }
            let correlationID = admitted.params.correlationId ?? CorrelationID.make()
            return .waits { writer in
                do throws(BrokerError) {
                    let stages = try await services.broker.signOut(
                        try request(admitted.params, context.caller, correlationID)
                    ) { context.notify(InteractionOpen.self, InteractionOpen.Params($0)) }
                    if let id = call.id {
                        writer.answer(SignOutAccount.Result(stages: SignOutAccount.Stages(stages)), to: id)
                    }
                } catch {
                    admitted.fail(error, correlationID: correlationID, &writer)
                }
            }
        }
    }

    private func request(
        _ params: SignOutAccount.Params, _ caller: Caller, _ correlationID: String
    ) throws(BrokerError) -> SignOutRequest {
        var request = SignOutRequest(
            partition: caller.partition, account: try params.account.requiredSelector(), correlationID: correlationID)
        request.app = try viewer(params, caller)
        request.wipe = params.wipe
        request.revoke = params.revoke
        request.fromBrowser = params.fromBrowser
        request.presentation = params.presentation
        request.timeout = params.timeout
        return request
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
