import FoundationEssentials
import Hummingbird

private struct ExpireOrder: Decodable {
    var kind: ExpiringKind?
}

private struct ClockOrder: Decodable {
    var advance: Int
}

private struct DeviceOrder: Decodable {
    enum Decision: String, Decodable {
        case approve
        case deny
    }

    var userCode: String
    var decision: Decision
    /// The approving user.
    var username: String?
}

private struct ClaimsOrder: Decodable {
    /// The format of a `claims` parameter; an empty object requires nothing.
    var required: JSON
}

private struct Done: Encodable {
    var done: Bool
}

private struct ClockAnswer: Encodable {
    var now: Int
}

/// Lets a test control a provider in another process; equivalent to the methods of ``RunningProvider``.
extension Provider {
    func addControl(to router: Router<ProviderContext>) {
        let control = router.group("/control")
        control.post("/fault") { request, _ in
            try await self.order(request) { (fault: Fault) in
                self.faults.withLock { $0.add(fault) }
                return fault
            }
        }
        control.delete("/faults") { _, _ in
            self.faults.withLock { $0.removeAll() }
            return Response(status: .noContent)
        }
        control.get("/log") { _, _ in try json(self.log.withLock { $0.entries }) }
        control.delete("/log") { _, _ in
            self.log.withLock { $0.removeAll() }
            return Response(status: .noContent)
        }
        control.post("/expire") { request, _ in
            try await self.order(request) { (order: ExpireOrder) in
                self.expire(order.kind ?? .accessTokens)
                return ClockAnswer(now: self.now())
            }
        }
        control.post("/clock") { request, _ in
            try await self.order(request) { (order: ClockOrder) in
                self.state.withLock { $0.clockOffset += order.advance }
                return ClockAnswer(now: self.now())
            }
        }
        control.post("/policy") { request, _ in
            try await self.order(request) { (change: TokenPolicyChange) in
                try self.state.withLock { state in
                    state.policy = try change.applied(to: state.policy)
                    return state.policy
                }
            }
        }
        control.post("/device") { request, _ in
            try await self.order(request) { (order: DeviceOrder) in
                let username = order.decision == .approve ? order.username ?? "alice" : nil
                return Done(done: self.decideDevice(order.userCode, approvedBy: username))
            }
        }
        control.post("/claims") { request, _ in
            try await self.order(request) { (order: ClaimsOrder) in
                let required = try ClaimsRequest(try jsonText(order.required))
                self.state.withLock { $0.requiredClaims = required }
                return order.required
            }
        }
        control.delete("/grants") { _, _ in
            self.state.withLock { $0.tokens.revokeAll() }
            return Response(status: .noContent)
        }
        control.delete("/keys") { _, _ in
            try self.rotateKeys()
            return Response(status: .noContent)
        }
    }

    func expire(_ kind: ExpiringKind) {
        let now = now()
        state.withLock { state in
            state.tokens.expire(kind, now: now)
            if kind == .sessions { state.removeSessions() }
        }
    }

    /// JSON only: a page of another origin cannot send that without a CORS preflight.
    private func order<Order: Decodable, Answer: Encodable>(
        _ request: Request, _ carryOut: (Order) throws -> Answer
    ) async throws -> Response {
        guard request.headers[.contentType]?.hasPrefix("application/json") == true else {
            return plain(.unsupportedMediaType, "Orders are JSON: send Content-Type: application/json.\n")
        }
        let body = try await request.body.collect(upTo: 64 << 10)
        let order: Order
        do {
            order = try JSONDecoder().decode(Order.self, from: Data(body.readableBytesView))
        } catch {
            return plain(.badRequest, "This order cannot be read: \(error)\n")
        }
        let answer: Answer
        do { answer = try carryOut(order) } catch {
            return plain(.badRequest, "This order cannot be carried out: \(error)\n")
        }
        return try json(answer)
    }
}
