import BrokerModel
import BrokerValues
import Logging
import Synchronization

/// An administrator's settings; a reload takes effect with the next request.
package struct AccessSettings: Sendable, Equatable {
    package var audience: Audience
    /// Whether a caller may name a client id and an authority instead of a registered app.
    package var allowsAdHocClients = true
    /// Whether authorities named by callers may be on this machine's own networks.
    package var allowsPrivateAuthorities = true
    /// The rights of callers that no app lists.
    package var tiers = TierRules()
    /// The requirement for administration in addition to being outside of sandboxes.
    package var adminProof = AdminProof.outside
    /// The parser for authorities named by callers.
    package var authorities = AuthorityParser()

    package init(servedUID: UInt32) { audience = .only(uid: servedUID) }
    package init(audience: Audience) { self.audience = audience }

    /// Whether a caller may name this authority without a registration.
    func allowsNaming(_ authority: Authority) -> Bool {
        allowsPrivateAuthorities || WebURL(authority.url).map { !PrivateHost.isPrivate($0.host) } ?? false
    }

    /// Whether an app that is not registered may be used.
    func allowsAdHoc(_ app: AppRegistration) -> Bool { allowsAdHocClients && allowsNaming(app.authority) }
}

package enum AdminProof: Sendable, Equatable {
    /// No further proof.
    case outside
    /// Membership of this group when connecting; `nil` if the group does not exist, in which case no one administers.
    case group(UInt32?)
    /// Proof that the person is present, for the most important operations (`BrokerMethod.presence(for:)`).
    case presence

    /// - Parameter gid: the caller's group when it connected (SO_PEERCRED).
    package func isMet(by gid: UInt32) -> Bool {
        switch self {
        case .outside, .presence: true
        case .group(let group): gid == group
        }
    }
}

/// The rights of a tier's callers at an app that does not list them (`access.sandboxed` and so on).
package enum TierRule: String, Sendable, CaseIterable {
    /// They may use apps that list no callers.
    case allow
    /// They may use what a person granted; the person is asked for the rest.
    case ask
    /// They may use nothing, whatever a person granted.
    case deny
}

/// The rule of each tier.
package struct TierRules: Sendable, Equatable {
    package var sandboxed = TierRule.ask
    package var confined = TierRule.ask
    package var systemInstalled = TierRule.allow
    package var unknown = TierRule.allow

    package init() {}

    subscript(tier: CallerTier) -> TierRule {
        switch tier {
        case .sandboxed: sandboxed
        case .confined: confined
        case .systemInstalled: systemInstalled
        case .unknown: unknown
        // The person answering would not know which program is asking.
        case .unidentified: .deny
        }
    }
}

/// Decides before any work starts which callers may use the broker at all, and as which app (``admit(_:_:)``).
package final class AccessPolicy: Sendable {
    package let grants: GrantStore
    let directory: AppDirectory
    /// Closed while the broker is locked.
    let gate: LockGate
    /// The owners of partitions; `nil` if the broker serves one user.
    package let owners: PartitionOwners?
    let quota: PartitionQuota?
    let presence: (any PresenceAuthority)?
    /// The id of the only account of an app with a username.
    let accounts: @Sendable (String, AppRegistration, Partition) -> String?
    let presenceTurns: PresenceQueue
    let log: Logger
    let current: Mutex<AccessSettings>
    private let changedRules = Broadcast<Void>()

    package init(
        directory: AppDirectory, grants: GrantStore, gate: LockGate, owners: PartitionOwners? = nil,
        quota: PartitionQuota? = nil, presence: (any PresenceAuthority)? = nil,
        accounts: @escaping @Sendable (String, AppRegistration, Partition) -> String?, settings: AccessSettings,
        log: Logger
    ) {
        self.directory = directory
        self.grants = grants
        presenceTurns = PresenceQueue(grants.stop)
        self.gate = gate
        self.owners = owners
        self.quota = quota
        self.presence = presence
        self.accounts = accounts
        self.log = log
        current = Mutex(settings)
        tell(settings)
    }

    var settings: AccessSettings { current.withLock { $0 } }

    package func apply(_ settings: AccessSettings) {
        current.withLock { $0 = settings }
        tell(settings)
        changedRules.tell(())
    }

    /// - Parameter deliver: called after a change that affects admission, with the partition whose apps or grants changed, or
    ///   `nil` for all partitions. It must not wait.
    /// - Returns: subscriptions that end when they are released.
    package func observe(_ deliver: @escaping @Sendable (Partition?) -> Void) -> [Subscription] {
        [
            changedRules.subscribe { deliver(nil) }, directory.observe(deliver),
            grants.observe { if $0.change == .revoked { deliver($0.partition) } },
        ]
    }

    private func tell(_ settings: AccessSettings) {
        guard settings.adminProof == .group(nil) else { return }
        log.error(
            "admin.proof is setgid, but no group brokerctl exists: no one may administer; make the group and reload")
    }

    /// Checks the peer's uid, as the kernel reports it, when a connection is accepted.
    ///
    /// - Throws: `accessDenied` (`otherUser`).
    package func serves(_ peer: PeerCredentials) throws(BrokerError) {
        guard settings.audience.includes(peer.uid) else {
            throw BrokerError(
                .accessDenied,
                "This broker serves another user; start one of your own (systemctl --user start brokerd.socket).",
                reason: .otherUser)
        }
    }

    /// Whether a caller of the group has the proof that administration requires in addition to being outside.
    package func hasAdminProof(gid: UInt32) -> Bool { settings.adminProof.isMet(by: gid) }

    /// Whether the broker serves every user.
    package var servesEverybody: Bool { if case .everybody = settings.audience { true } else { false } }

    /// Requires proof that the caller is outside of sandboxes, for requests about more than one app: all accounts, registrations.
    ///
    /// - Throws: `accessDenied` (`callerNotListed`).
    package func requireAdministrator(_ caller: Caller) throws(BrokerError) {
        guard !caller.mayAdminister else { return }
        let message =
            switch caller.tier {
            case .sandboxed where caller.elsewhere != nil:
                "A program on another machine may not do this; use brokerctl on the machine that the broker runs on."
            case .sandboxed:
                "An app in a sandbox or container may not do this; use brokerctl outside of it (flatpak-spawn --host, distrobox-host-exec)."
            case .unidentified:
                "Cannot verify that this program runs outside of sandboxes; keep it running until the call returns."
            case _ where caller.isOutside:
                "Only brokerctl may do this here (admin.proof is setgid), as the administrator has installed it: with the group brokerctl and mode 2755."
            case .confined, .systemInstalled, .unknown:
                "\(caller.id) may not do this; use brokerctl in an ordinary session of its user."
            }
        throw .denied(caller, message)
    }

    /// Whether the caller may manage what concerns all users of the broker.
    package func isOwner(_ caller: Caller) -> Bool { settings.audience.isOwned(by: caller.partition.uid) }

    /// The error with advice that the caller can follow: if the broker serves all users, only root can unlock it.
    package func fitting(_ error: BrokerError, _ caller: Caller) -> BrokerError {
        guard error.kind == .locked, !isOwner(caller) else { return error }
        var error = error
        error.message = "The broker is locked, and only root may unlock it; ask an administrator for brokerctl unlock."
        return error
    }

    /// Requires an administrator that is the owner of the broker, for requests about all of its users: its keys, and the records
    /// that it holds for each user.
    ///
    /// - Throws: `accessDenied` (`callerNotListed`, `notRoot`).
    package func requireOwnerOfBroker(_ caller: Caller) throws(BrokerError) {
        try requireAdministrator(caller)
        guard !isOwner(caller) else { return }
        throw .denied(
            caller, "This broker serves every user of the machine, so only root may do this; ask an administrator.",
            .notRoot)
    }

    /// Asks the person for the missing rights, if an answer turned out to exceed the grant.
    ///
    /// - Parameters:
    ///   - scopes: the token's scopes and resource; `nil` if unknown.
    ///   - accountID: the account that the grant is for; `nil` for all accounts.
    /// - Throws: always, as ``admit(_:_:)``.
    package func ask(
        forToken scopes: [String]?, of accountID: String?, _ app: AppRegistration, by caller: Caller
    ) throws(BrokerError) -> Never {
        let account = accountID.map { AccountReference.id($0) }
        let reach = scopes.map { AppReach.token(scopes: $0, account: account) } ?? .account(account)
        try grants.ask(for: GrantedPart(needed: reach, by: app), of: app, by: caller.forApps)
    }

    /// Parses an authority that comes from a caller, not from the person's configuration or registration.
    ///
    /// - Throws: `invalidAuthority`, also for one on a private address where that is not allowed.
    package func authorityNamed(_ text: String) throws(BrokerError) -> Authority {
        let authority = try authority(text)
        guard settings.allowsNaming(authority) else {
            throw BrokerError(
                .invalidAuthority,
                "The authority cannot be used: its host is on a private network, and only registered apps may be there."
            )
        }
        return authority
    }

    /// - Throws: `invalidAuthority`, saying what is wrong with it.
    package func authority(_ text: String) throws(BrokerError) -> Authority {
        do throws(InvalidAuthority) {
            return try settings.authorities.authority(text)
        } catch {
            throw BrokerError(.invalidAuthority, "The authority cannot be used: \(error.description).", cause: error)
        }
    }
}

extension InvalidAuthority {
    fileprivate var description: String {
        switch self {
        case .notAURL: "it is not a URL of the form https://host/path"
        case .plainHTTP: "it must be https (plain http is for 127.0.0.1, [::1] and localhost only)"
        case .httpLoopbackNotAllowed:
            "plain http to loopback is not allowed; to allow it for development: brokerctl config set oauth.allow_http_loopback true"
        case .hasQueryOrFragment: "an issuer has neither query nor fragment"
        case .hasUserInfo: "it must not carry a user name"
        case .tenantMissing: "it names no tenant (add /common, /organizations, /consumers, or a tenant's id or domain)"
        case .notATenant: "it must end with its tenant, as in https://login.microsoftonline.com/TENANT"
        case .policyMissing: "it must end with /TENANT/POLICY or /tfp/TENANT/POLICY"
        case .notADFS: "it must end in /adfs"
        }
    }
}
