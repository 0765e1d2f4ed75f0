import BrokerAccess
import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerValues

/// `token.proof`.
struct ProofHandlers: Sendable {
    private let services: ServerServices

    init(_ services: ServerServices) { self.services = services }

    var routes: [Route] {
        [
            .waiting(ProveToken.self) { params, caller throws(BrokerError) in
                let proof = try services.broker.proof(try request(params, caller))
                return ProveToken.Result(proof: proof.proof, keyThumbprint: proof.keyThumbprint)
            }
        ]
    }

    private func request(_ params: ProveToken.Params, _ caller: Caller) throws(BrokerError) -> ProofRequest {
        guard let selection = params.selection else { throw AppReference.missing }
        var request = ProofRequest(
            partition: caller.partition, app: try services.policy.admit(caller, as: AppReference(selection)),
            target: ProofTarget(method: params.httpMethod, url: params.url))
        request.account = params.account?.selector
        // Beside `clientId` the authority is the app's own.
        if params.app != nil, let authority = params.authority {
            request.authority = try services.policy.authority(authority)
        }
        request.nonce = params.nonce
        request.accessToken = params.accessToken.map { Secret($0) }
        return request
    }
}
