import BrokerAccess
import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerValues

/// A check of a watch: its caller is judged anew, as for a silent request of its own.
struct WatchChecks: Sendable {
    let tokens: TokenHandlers
    let broker: TokenBroker
    let policy: AccessPolicy
    let vault: any RecordVault
    let log: RequestLog

    func look(_ look: WatchSchedule.Look, of watch: TokenWatch) async -> WatchResult {
        let start = log.start()
        var subject = RequestEntry.Subject(method: WatchToken.name, caller: watch.context.audited)
        subject.app = watch.params.selection.app ?? watch.app.name
        let name = watch.params.correlationId ?? CorrelationID.make()
        subject.correlationID = name
        do throws(BrokerError) {
            try stands(watch.grant, watch)
            if look == .glance, try !hasAnother(watch) { return .same }
            let (token, request) = try await token(look, watch, name)
            guard try !isHeld(token, by: watch) else { return .same }
            let held = try held(token, watch.params)
            let newToken = NewToken(
                times: broker.watched.times(of: token, minimumLifetime: held.minimumLifetime),
                held: held, grant: request.grant, line: try line(token, request, watch))
            log.done(.refreshed(token), subject, since: start)
            return .another(newToken)
        } catch {
            // A client that named no account must not learn an account's name.
            let error = watch.namesAccount ? error : error.orNobodyThere(watch.app)
            _ = log.failed(error, subject, since: start)
            return .failed(error)
        }
    }

    func held(_ token: AcquiredToken, _ params: WatchToken.Params) throws(BrokerError) -> HeldToken {
        .init(
            box: token.token.sealed.box, fingerprint: try broker.watched.fingerprint(of: token),
            minimumLifetime: broker.watched.minimumLifetime(of: token, asked: params.minimumLifetime))
    }

    private func isHeld(_ token: AcquiredToken, by watch: TokenWatch) throws(BrokerError) -> Bool {
        let held = watch.held
        if held.box == token.token.sealed.box { return true }
        return try held.fingerprint == broker.watched.fingerprint(of: token)
    }

    /// Whether the caller would be admitted as when the last token was sent. A withdrawn grant is not asked for again.
    private func stands(_ grant: GrantInUse?, _ watch: TokenWatch) throws(BrokerError) {
        if watch.context.hasMoved(false) { throw BrokerError.movedMeanwhile(watch.context.caller) }
        if watch.context.hasEnded() { throw BrokerError.endedMeanwhile(watch.context.caller) }
        try policy.confirm(Admission(app: watch.app, grant: grant), of: watch.context.caller)
    }

    /// Checks without a request to a provider. A token obtained without the claims that the watch asks for does not fit it.
    private func hasAnother(_ watch: TokenWatch) throws(BrokerError) -> Bool {
        var params = watch.params.relaxed
        let wantsClaims = params.query.claims != nil || params.query.challenge?.claims != nil
        params.query.claims = nil
        params.query.challenge = params.query.challenge?.withoutClaims
        let request = Request<WatchToken>(
            params: params, Admission(app: watch.app, grant: watch.grant), correlationID: "", watch.context)
        guard let token = try broker.watched.glance(try tokens.silent(request)), !wantsClaims else {
            return false
        }
        return try !isHeld(token, by: watch)
    }

    private func token(
        _ look: WatchSchedule.Look, _ watch: TokenWatch, _ correlationID: String
    ) async throws(BrokerError) -> (AcquiredToken, Request<WatchToken>) {
        let context = watch.context
        let params = look == .renewal ? watch.renewalParams : watch.params.relaxed
        let asking = AdmissionRequest(
            context.caller, now: context.callerNow, connectedAt: context.connectedAt, right: WatchToken.right,
            reaching: params.reach)
        if policy.mustLookUp(asking) { try await policy.lookUp(asking) }
        let admitted = try policy.admit(watch.params.appReference(watch.app), asking)
        defer { policy.leave(neededKeys: !WatchToken.worksLocked) }
        let request = Request<WatchToken>(params: params, admitted, correlationID: correlationID, context)
        let asked = try tokens.silent(request)
        let token: AcquiredToken
        // A quick check begins no early renewal: that would notify all watches, and they would check again.
        if let cached = look == .glance ? try broker.watched.glance(asked) : broker.cached(asked) {
            token = cached
        } else {
            try context.beginWork()
            defer { context.endWork() }
            try await policy.prepare(request.partition, adds: WatchToken.addsRecords)
            token = try await broker.acquireSilent(asked)
        }
        try stands(request.grant, watch)
        try request.permits(token, by: policy)
        return (token, request)
    }

    private func line(
        _ token: AcquiredToken, _ request: Request<WatchToken>, _ watch: TokenWatch
    ) throws(BrokerError) -> JSONWriter {
        var writer = JSONWriter()
        writer.beginNotification(TokenChanged.self)
        writer.beginObject()
        writer.key("watch")
        writer.string(watch.name)
        writer.key("token")
        try writer.token(token, correlationID: request.correlationID, from: vault)
        writer.endObject()
        writer.endObject()
        writer.endLine()
        return writer
    }
}

extension WatchToken.Params {
    /// - Parameter app: its registration when the watch began.
    fileprivate func appReference(_ app: AppRegistration) -> AppReference {
        if let name = selection.app { return .registered(name) }
        guard let clientID = selection.clientId, let authority = selection.authority else {
            return .registered(app.name)
        }
        return .adHoc(clientID: clientID, authority: authority)
    }
}

extension BrokerError {
    /// The answer to a silent request without an account if there is no account.
    fileprivate func orNobodyThere(_ app: AppRegistration) -> BrokerError {
        guard kind == .accountNotFound else { return self }
        return BrokerError(
            .interactionRequired, "The account of \(app.name) was removed; sign in again.", reason: .noTokens,
            cause: self)
    }
}
