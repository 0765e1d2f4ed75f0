import BrokerModel
import BrokerValues
import Logging
import Synchronization

/// What an administrator decides; a reload takes effect with the next request.
package struct AccessSettings: Sendable, Equatable {
    /// The uid the broker serves: its own.
    package var servedUID: UInt32
    /// Whether a caller may name a client id and an authority instead of a registered app.
    package var allowsAdHocClients = true
    /// How authorities that callers name are read.
    package var authorities = AuthorityParser()

    package init(servedUID: UInt32) { self.servedUID = servedUID }
}

/// Decides before any work starts: who may speak to the broker at all, and as which app.
package final class AccessPolicy: Sendable {
    private let directory: AppDirectory
    private let log: Logger
    private let current: Mutex<AccessSettings>

    package init(directory: AppDirectory, settings: AccessSettings, log: Logger) {
        self.directory = directory
        self.log = log
        current = Mutex(settings)
    }

    private var settings: AccessSettings { current.withLock { $0 } }

    package func apply(_ settings: AccessSettings) { current.withLock { $0 = settings } }

    /// The hard gate, at accept: the kernel's word on the peer's uid.
    package func serves(_ peer: PeerCredentials) throws(BrokerError) {
        guard peer.uid == settings.servedUID else {
            log.warning("a peer of another user was turned away", metadata: ["uid": "\(peer.uid)"])
            throw BrokerError(
                .accessDenied,
                "This broker serves another user; start one of your own (systemctl --user start brokerd.socket).",
                reason: .otherUser)
        }
    }

    package func identify(_ facts: PeerFacts) throws(BrokerError) -> Caller {
        try serves(PeerCredentials(uid: facts.uid, gid: facts.gid, pid: facts.pid))
        return Caller(facts)
    }

    /// For what concerns more than one app: all accounts, registrations. It needs proof of being outside of sandboxes.
    package func requireAdministrator(_ caller: Caller) throws(BrokerError) {
        guard !caller.mayAdminister else { return }
        let message =
            switch caller.tier {
            case .sandboxed:
                "An app in a sandbox or container may not do this; use brokerctl outside of it (flatpak-spawn --host, distrobox-host-exec)."
            case .unidentified:
                "Only a program that is seen to be outside of sandboxes may do this, and this one could not be looked at; it must go on running while it asks."
            case .confined, .systemInstalled, .unknown:
                "\(caller.id) may not do this; use brokerctl in an ordinary session of its user."
            }
        throw BrokerError(.accessDenied, message, reason: .callerNotListed) { $0.caller = caller.id }
    }

    /// The app this caller may act as. Synchronous and quick: part of the hot path.
    ///
    /// - Throws: `appNotFound`, `accessDenied` (`callerNotListed`, `adHocForbidden`), `invalidAuthority`.
    package func admit(_ caller: Caller, as reference: AppReference) throws(BrokerError) -> AppRegistration {
        switch reference {
        case .registered(let name):
            guard let app = try directory.app(named: name, in: caller.partition) else {
                throw AppDirectory.notFound(name)
            }
            guard caller.isListed(by: app) else {
                log.notice(
                    "a caller that the app does not list was refused",
                    metadata: ["app": "\(name)", "caller": "\(caller.id)"])
                throw BrokerError(
                    .accessDenied,
                    "\(caller.id) is not among the programs that may use \(name); add it with brokerctl apps add.",
                    reason: .callerNotListed
                ) {
                    $0.app = name
                    $0.caller = caller.id
                }
            }
            // The broker may have been started without the flag since the app was registered.
            if app.authority.isPlainHTTP, !settings.authorities.allowsHTTPLoopback {
                _ = try authority(app.authority.url)
            }
            return app
        case .adHoc(let clientID, let authority):
            guard caller.tier != .sandboxed, caller.tier != .unidentified else {
                throw BrokerError(
                    .accessDenied,
                    "\(caller.id) may only ask as an app that lists it; add it with brokerctl apps add --sandbox.",
                    reason: .adHocForbidden
                ) { $0.caller = caller.id }
            }
            guard settings.allowsAdHocClients else {
                throw BrokerError(
                    .accessDenied, "Only registered apps may ask here; register one with brokerctl apps add.",
                    reason: .adHocForbidden
                ) { $0.caller = caller.id }
            }
            return AppRegistration(
                AppDescription(name: clientID, clientID: clientID), authority: try self.authority(authority),
                isAdHoc: true)
        }
    }

    /// - Throws: `invalidAuthority`, saying what is wrong with it.
    package func authority(_ text: String) throws(BrokerError) -> Authority {
        do throws(Authority.Invalid) {
            return try settings.authorities.authority(text)
        } catch {
            throw BrokerError(.invalidAuthority, "The authority cannot be used: \(error.description).", cause: error)
        }
    }
}

extension Authority.Invalid {
    fileprivate var description: String {
        switch self {
        case .notAURL: "it is not a URL of the form https://host/path"
        case .plainHTTP: "it must be https (plain http is for loopback only)"
        case .httpLoopbackNotAllowed: "plain http to loopback has to be allowed with --allow-http-loopback"
        case .hasQueryOrFragment: "an issuer has neither query nor fragment"
        case .hasUserInfo: "it must not carry a user name"
        case .tenantMissing: "it names no tenant (add /common, /organizations, /consumers, or a tenant's id or domain)"
        case .notATenant: "it must end with its tenant, as in https://login.microsoftonline.com/TENANT"
        case .policyMissing: "it must end with /TENANT/POLICY or /tfp/TENANT/POLICY"
        case .notADFS: "it must end in /adfs"
        }
    }
}
