import BrokerAccess
import BrokerConfig
import BrokerEngine
import BrokerHost
import BrokerServer
import BrokerSocket
import BrokerValues
import Glibc
import Logging

/// The configuration of each part.
extension BrokerConfiguration {
    var engineSettings: EngineSettings {
        var settings = EngineSettings()
        settings.expiryBuffer = Int64(cache.expiryBuffer)
        settings.refreshShare = cache.refreshShare
        settings.extendedLifetime = cache.extendedLifetime
        settings.answerPatience = Int64(oauth.requestTimeout)
        settings.openInteractions = interaction.maxOpen
        settings.openInteractionsEach = interaction.maxOpenEach
        settings.authorities = authorities
        settings.lockAfterIdle = Int64(lock.afterIdle)
        settings.partitionQuota = vault.quota == 0 ? nil : vault.quota << 20
        settings.asksForForms = interaction.formPost
        settings.isSharedDevice = device.mode == "shared"
        settings.quotesProviders = journalNames == .plain
        return settings
    }

    /// The style of names in the journal. An unknown value hides names: its author wanted less than `plain`.
    var journalNames: JournalNames.Style { JournalNames.Style(rawValue: log.names) ?? .none }

    var paths: HostPaths { HostPaths(isSystemMode: isSystemMode) }

    /// Whether the broker opens pages in browsers. A broker for many users has no desktop to open them on.
    var asksInBrowser: Bool { access.askInBrowser && !isSystemMode }

    var accessSettings: AccessSettings {
        var settings = AccessSettings(audience: audience)
        settings.allowsAdHocClients = access.allowAdHocClients
        settings.allowsPrivateAuthorities = access.allowPrivateAuthorities
        settings.authorities = authorities
        settings.tiers = access.tiers
        switch admin.proof {
        case "setgid": settings.adminProof = .group(SystemAccounts.group(named: "brokerctl"))
        case "presence": settings.adminProof = .presence
        default: settings.adminProof = .outside
        }
        return settings
    }

    var audience: Audience { isSystemMode ? .everybody(overflow: UserNamespace.overflowUID) : .only(uid: geteuid()) }

    var redirectLimits: RedirectLimits {
        var limits = RedirectLimits()
        limits.takesRedirectsOfOtherUsers = interaction.allowRedirectsOfOtherUsers
        return limits
    }

    var connectionLimits: ConnectionLimits {
        var limits = ConnectionLimits()
        if isSystemMode { limits.userConnections = max(socket.maxConnections / 8, 1) }
        limits.connections = socket.maxConnections
        limits.halfLine = .seconds(socket.idleLineTimeout)
        return limits
    }

    var socketPath: String { socket.path ?? paths.socket }

    /// - Parameter handed: the socket from systemd; without it the broker binds one at the path.
    func listeningSocket(at path: String, _ handed: ActivatedSocket?) throws(SocketError) -> ListeningSocket {
        if let handed { return try .inherited(handed.descriptor) }
        return try .bind(SocketPlace(path: path, audience: isSystemMode ? .everybody : .owner))
    }

    var sandboxFolders: SandboxFolders {
        paths.sandboxes.map { SandboxFolders($0, isShared: isSystemMode) }
            ?? SandboxFolders(beside: socketPath, isShared: isSystemMode)
    }

    /// The sandboxes that have a socket from the start. In system mode, those of no one user do.
    var openSandboxes: [String: Sandbox] { isSystemMode ? [:] : sandboxes }

    /// Logs everything in the configuration's files that is ignored.
    func reportMistakes(to log: Logger) {
        for mistake in apps.mistakes {
            log.error("a file of apps.d is ignored", metadata: ["cause": "\(mistake)"])
        }
        for remark in remarks { log.warning("\(remark)") }
    }
}

extension BrokerConfiguration.Access {
    /// The setting's choices are the names of the rules; a test keeps them in sync.
    fileprivate var tiers: TierRules {
        var rules = TierRules()
        rules.sandboxed = TierRule(rawValue: sandboxed) ?? .deny
        rules.confined = TierRule(rawValue: confined) ?? .deny
        rules.systemInstalled = TierRule(rawValue: systemInstalled) ?? .deny
        rules.unknown = TierRule(rawValue: unknown) ?? .deny
        return rules
    }
}
