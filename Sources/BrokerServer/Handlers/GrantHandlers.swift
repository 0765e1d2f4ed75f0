import BrokerAccess
import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerValues

/// `grants.…`.
struct GrantHandlers: Sendable {
    let broker: TokenBroker
    let apps: AppDirectory
    let policy: AccessPolicy

    private var grants: GrantStore { policy.grants }

    var all: [any AnyMethodHandler] {
        [
            .waiting(ListGrants.self) { request throws(BrokerError) in
                let all = try grants.list(in: request.partition)
                guard let app = request.params.app else {
                    return ListGrants.Result(grants: all.grants, requests: all.requests)
                }
                return ListGrants.Result(
                    grants: all.grants.filter { $0.app == app }, requests: all.requests.filter { $0.app == app })
            },
            .waiting(
                ApproveGrant.self,
                outcome: {
                    RequestOutcome(words: "\($1.grant.caller.id) was allowed to use \($1.grant.app)", app: $1.grant.app)
                }
            ) { request throws(BrokerError) in
                ApproveGrant.Result(grant: try await approve(request))
            },
            .waiting(DenyGrant.self) { request throws(BrokerError) in
                try grants.deny(request: request.params.request, in: request.partition)
                return DenyGrant.Result()
            },
            .waiting(RevokeGrant.self) { request throws(BrokerError) in
                try await grants.revoke(request.params.id, in: request.partition)
                return RevokeGrant.Result()
            },
        ]
    }

    private func approve(_ request: Request<ApproveGrant>) async throws(BrokerError) -> Grant {
        let (params, partition) = (request.params, request.partition)
        if let id = params.request {
            let app = try grants.app(of: id, in: partition)
            return try await grants.approve(request: id, try terms(params, app, partition), in: partition)
        }
        guard let caller = params.caller, let name = params.app else {
            throw BrokerError(.invalidParameter, "Say what is approved: a request, or a caller and an app.")
        }
        if policy.servesEverybody, caller.id.hasPrefix("/") {
            throw BrokerError(
                .invalidParameter,
                "This broker serves every user and identifies no program by its path, so this grant would have no effect; name a service's unit (system:NAME.service), or approve the request that the program makes."
            )
        }
        let app = try apps.registered(name, in: partition)
        return try await grants.approve(caller, as: app, try terms(params, app, partition), in: partition)
    }

    /// An account is identified by its current id: names can change hands.
    private func terms(
        _ params: ApproveGrant.Params, _ app: AppRegistration, _ partition: Partition
    ) throws(BrokerError) -> GrantStore.Terms {
        var terms = GrantStore.Terms(scopes: params.scopes, lifetime: params.lifetime)
        if let reference = params.account {
            // A client with a secret has fewer accounts, and the app of a request comes without its secret.
            let whole = try app.isAdHoc ? app : apps.registered(app.name, in: partition)
            guard let account = try broker.account(reference, of: whole, in: partition) else {
                throw BrokerError(
                    .accountNotFound, "\(app.name) knows no such account; see brokerctl accounts list --app.")
            }
            terms.accountID = account.id
        }
        return terms
    }
}
