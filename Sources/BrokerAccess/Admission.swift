import BrokerModel
import BrokerValues
import Logging

/// How a request names its app: an ``AppReference``, an optional one, or ``NoApp``.
package protocol AppNaming: Sendable {
    /// The type that the request's handler gets instead.
    associatedtype App: Sendable
    /// The name for the log; `nil` if no app is named.
    var name: String? { get }
    /// The admission by policy; call ``AccessPolicy/admit(_:_:)`` instead.
    func admitted(by policy: AccessPolicy, _ request: AdmissionRequest) throws(BrokerError) -> Admission<App>
    /// Whether the admission is still valid; call ``AccessPolicy/confirm(_:of:)`` instead.
    static func confirm(_ admitted: Admission<App>, of caller: Caller, by policy: AccessPolicy) throws(BrokerError)
}

/// The caller that asks for admission, and the extent of its request.
package struct AdmissionRequest: Sendable {
    let caller: Caller
    /// Inspects the caller again, for requests that need proof.
    let callerNow: @Sendable () -> Caller
    /// The uptime when the caller connected.
    let connectedAt: Duration
    /// The right that a sandbox's own socket must have; `nil` if none is needed.
    let right: SandboxRight?
    let needsKeys: Bool
    let reach: AppReach

    package init(
        _ caller: Caller, now: @escaping @Sendable () -> Caller, connectedAt: Duration,
        right: SandboxRight? = nil, needsKeys: Bool = true, reaching reach: AppReach
    ) {
        (self.caller, callerNow, self.connectedAt) = (caller, now, connectedAt)
        (self.right, self.needsKeys, self.reach) = (right, needsKeys, reach)
    }
}

/// The app that a caller was admitted as.
package struct Admission<App: Sendable>: Sendable {
    package let app: App
    /// The grant that admitted it; `nil` if nothing limits it.
    package let grant: GrantInUse?

    package init(app: App, grant: GrantInUse?) {
        self.app = app
        self.grant = grant
    }
}

// MARK: - Admission

extension AccessPolicy {
    /// Admits a request, or throws the reason for the refusal. It is synchronous and quick, as part of the hot path. An admitted
    /// request ends with ``leave(neededKeys:)``; until then the vault's keys stay in memory if it needs them. Check
    /// ``mustLookUp(_:)`` first.
    ///
    /// - Throws: `locked`, `appNotFound`, `accessDenied` (`callerNotListed`, `vaultRolledBack`, `adHocForbidden`,
    ///   `grantDenied`), `grantRequired`, `invalidAuthority`.
    package func admit<Naming: AppNaming>(
        _ naming: Naming, _ request: AdmissionRequest
    ) throws(BrokerError) -> Admission<Naming.App> {
        if let right = request.right { try require(right, of: request.caller) }
        guard !request.needsKeys || gate.enter() else { throw .locked }
        do throws(BrokerError) {
            return try naming.admitted(by: self, request)
        } catch {
            leave(neededKeys: request.needsKeys)
            throw error
        }
    }

    /// Whether the owner of the caller's records must be looked up (``lookUp(_:)``) before the request can be admitted.
    package func mustLookUp(_ request: AdmissionRequest) -> Bool {
        guard let owners, canLookUp(request) else { return false }
        return !owners.isCertain(of: request.caller.partition, connectedAt: request.connectedAt)
    }

    /// Looks up the owner of the caller's records.
    ///
    /// - Throws: `accessDenied` (`otherAccount`), `serverUnavailable`.
    package func lookUp(_ request: AdmissionRequest) async throws(BrokerError) {
        guard canLookUp(request) else { return }
        try await owners?.check(request.caller.partition, connectedAt: request.connectedAt)
    }

    /// While the broker is locked, the owner of the records cannot be read.
    private func canLookUp(_ request: AdmissionRequest) -> Bool { request.needsKeys || gate.isOpen }

    /// Checks that a request admitted as an app would still be admitted by the same grant: a wait or a subscription may outlive its
    /// right.
    ///
    /// - Parameter limitsTokens: whether tokens may be returned, which requires that the app's limit is unchanged.
    /// - Throws: `accessDenied` and `appNotFound` if a grant, the place on a list or the app itself was removed or has changed.
    package func confirm(
        _ admitted: Admission<AppRegistration>, of caller: Caller, limitsTokens: Bool = true
    ) throws(BrokerError) {
        let caller = caller.forApps
        var app = admitted.app
        if !app.isAdHoc {
            app = try directory.registered(app.name, in: caller.partition)
            let isLimited = limitsTokens && app.scopeCeiling != admitted.app.scopeCeiling
            guard app.grantBinding == admitted.app.grantBinding, !isLimited else {
                throw .denied(caller, as: app, "\(app.name) was registered anew meanwhile; ask again.")
            }
        }
        let (tiers, mayBeUsed) = current.withLock { ($0.tiers, !app.isAdHoc || $0.allowsAdHoc(app)) }
        switch AccessVerdict(on: caller, as: app, by: tiers) {
        case .allowed where mayBeUsed: return
        case .byGrant where mayBeUsed:
            if let grant = admitted.grant, grants.holds(grant, of: caller, as: app) { return }
            throw .denied(caller, as: app, "The grant of \(caller.id) was revoked meanwhile.")
        case .allowed, .byGrant, .refused:
            throw .denied(caller, as: app, "\(caller.id) may not use \(app.name) any more.")
        }
    }

    /// Checks that a request admitted as an administrator would still be admitted: the requirements may have risen since.
    fileprivate func confirmAdministrator(_ caller: Caller) throws(BrokerError) {
        guard !hasAdminProof(gid: caller.facts.gid) else { return }
        throw .denied(
            caller, "The proof that administration needs (admin.proof) was changed meanwhile; connect again.")
    }

    /// Whether a listener may continue; listeners get no tokens.
    ///
    /// - Parameter admitted: the app that it was admitted as; `nil` for an administrator.
    package func mayListen(_ caller: Caller, as admitted: Admission<AppRegistration?>) -> Bool {
        guard let app = admitted.app else { return hasAdminProof(gid: caller.facts.gid) }
        return (try? confirm(Admission(app: app, grant: admitted.grant), of: caller, limitsTokens: false)) != nil
    }

    /// Whether a listener may continue, and learn of an event of another app of its group. Only a caller that could use that app
    /// without a question to the person may learn of it.
    package func mayListen(
        _ caller: Caller, as admitted: Admission<AppRegistration?>, to app: AppRegistration
    ) -> Bool {
        guard mayListen(caller, as: admitted) else { return false }
        guard let own = admitted.app, own.identity != app.identity else { return true }
        let caller = caller.forApps
        let isNameable = caller.nameableApps.map { !app.isAdHoc && $0.contains(app.name) } ?? true
        return isNameable && AccessVerdict(on: caller, as: app, by: current.withLock(\.tiers)) == .allowed
    }

    package func leave(neededKeys: Bool) {
        if neededKeys { gate.leave() }
    }

    /// Call before anything is stored in a partition: checks that there is room, and records the partition's owner.
    ///
    /// - Parameter adds: whether more may be stored than before.
    package func prepare(_ partition: Partition, adds: Bool) async throws(BrokerError) {
        if adds { try quota?.requireRoom(in: partition) }
        try await owners?.bind(partition)
    }

    fileprivate func admit(
        as reference: AppReference, _ request: AdmissionRequest
    ) throws(BrokerError) -> Admission<AppRegistration> {
        let caller = request.caller.forApps
        try requireNameable(reference, by: caller)
        let app = try app(reference, of: caller)
        let verdict = AccessVerdict(on: caller, as: app, by: current.withLock(\.tiers))
        if verdict != .refused {
            try requireCertainLists(caller, as: app)
            try app.requireWithinCeiling(request.reach)
        }
        switch verdict {
        case .allowed: return Admission(app: app, grant: nil)
        case .refused: throw refusal(of: caller, as: app)
        case .byGrant(let asks):
            let reach = byID(request.reach, of: app, in: caller.partition)
            if let grant = try grants.use(by: caller, as: app, reach) { return Admission(app: app, grant: grant) }
            guard asks else { throw refusal(of: caller, as: app) }
            try grants.ask(for: GrantedPart(needed: reach, by: app), of: app, by: caller)
        }
    }

    /// The reach with the account's id in place of its username: names change hands, and a person who allows one account must not
    /// allow another, or all. A name that no account has, or several have, is left: the grant is then for nobody's tokens.
    func byID(_ reach: AppReach, of app: AppRegistration, in partition: Partition) -> AppReach {
        guard case .username(let name)? = reach.account, let id = accounts(name, app, partition) else { return reach }
        var reach = reach
        reach.account = .id(id)
        return reach
    }

    /// Requires a right of a sandbox's own socket. Its rights are fixed when the socket is opened.
    ///
    /// - Throws: `accessDenied` (`callerNotListed`).
    package func require(_ right: SandboxRight, of caller: Caller) throws(BrokerError) {
        guard caller.lacks(right) else { return }
        throw .denied(
            caller,
            "\(caller.id) may not do this: its socket was opened without the right \(right.rawValue); \(caller.giving(right))."
        )
    }

    /// Checked before any lookup: a sandbox does not learn which other apps exist.
    private func requireNameable(_ reference: AppReference, by caller: Caller) throws(BrokerError) {
        guard let apps = caller.nameableApps else { return }
        if case .registered(let name) = reference, apps.contains(name) { return }
        throw .denied(
            caller,
            "\(caller.id) may name these apps only: \(apps.joined(separator: ", ")); its socket was opened for no other."
        )
    }

    /// An app's list and the grants may have been withdrawn since the vault that was restored. An administrator can allow itself
    /// everything, listed or not.
    private func requireCertainLists(_ caller: Caller, as app: AppRegistration) throws(BrokerError) {
        guard !caller.mayAdminister, directory.isRolledBack(caller.partition) else { return }
        throw .denied(
            caller, as: app,
            "An earlier vault was put in place of the last one, so the callers allowed to use \(app.name) are uncertain; check brokerctl apps list and grants list, then run brokerctl cache accept-restore.",
            .vaultRolledBack)
    }

    /// The app that a reference names, for any caller.
    private func app(_ reference: AppReference, of caller: Caller) throws(BrokerError) -> AppRegistration {
        switch reference {
        case .registered(let name):
            let app = try directory.registered(name, in: caller.partition)
            // The broker may have been started without the flag since the app was registered.
            if app.isPlainHTTP, !current.withLock({ $0.authorities.allowsHTTPLoopback }) {
                _ = try authority(app.authority.url)
            }
            return app
        case .adHoc(let clientID, let authority):
            guard settings.allowsAdHocClients, caller.tier != .unidentified else {
                throw .denied(
                    caller,
                    "\(caller.id) may only ask as a registered app here; register one with brokerctl apps add.",
                    .adHocForbidden)
            }
            var app = AppRegistration(
                AppDescription(name: clientID, clientID: clientID),
                authority: try authorityNamed(authority), isAdHoc: true)
            if caller.tier == .sandboxed { app.sandbox = caller.clientSpace }
            return app
        }
    }

    private func refusal(of caller: Caller, as app: AppRegistration) -> BrokerError {
        .denied(
            caller, as: app,
            caller.partner.map {
                "\(caller.id) writes on a connection of \($0.id), and not both of them may use \(app.name); let each make its own."
            }
                ?? (app.isAdHoc
                    ? "\(caller.id) may only ask as an app that lists it; add it with brokerctl apps add."
                    : "\(caller.id) is not among the programs that may use \(app.name); add it with brokerctl apps add, or allow it with brokerctl grants approve."),
            app.isAdHoc ? .adHocForbidden : .callerNotListed)
    }
}

// MARK: - App references in requests

extension AppReference: AppNaming {
    package var name: String? {
        switch self {
        case .registered(let name): name
        case .adHoc(let clientID, _): "client \(clientID)"
        }
    }

    package func admitted(
        by policy: AccessPolicy, _ request: AdmissionRequest
    ) throws(BrokerError) -> Admission<AppRegistration> {
        try policy.admit(as: self, request)
    }

    package static func confirm(
        _ admitted: Admission<AppRegistration>, of caller: Caller, by policy: AccessPolicy
    ) throws(BrokerError) {
        try policy.confirm(admitted, of: caller)
    }
}

/// A request that names no app is about all of the person's apps.
extension AppReference?: AppNaming {
    package var name: String? { self?.name }

    package func admitted(
        by policy: AccessPolicy, _ request: AdmissionRequest
    ) throws(BrokerError) -> Admission<AppRegistration?> {
        guard let self else {
            try policy.requireAdministrator(request.callerNow())
            return Admission(app: nil, grant: nil)
        }
        let admitted = try policy.admit(as: self, request)
        return Admission(app: admitted.app, grant: admitted.grant)
    }

    package static func confirm(
        _ admitted: Admission<AppRegistration?>, of caller: Caller, by policy: AccessPolicy
    ) throws(BrokerError) {
        guard let app = admitted.app else { return try policy.confirmAdministrator(caller) }
        try policy.confirm(Admission(app: app, grant: admitted.grant), of: caller)
    }
}

extension NoApp: AppNaming {
    package var name: String? { nil }

    package func admitted(by policy: AccessPolicy, _ request: AdmissionRequest) -> Admission<NoApp> {
        Admission(app: self, grant: nil)
    }

    /// An administrator's change has already been made: the answer says so.
    package static func confirm(_: Admission<NoApp>, of _: Caller, by _: AccessPolicy) {}
}
