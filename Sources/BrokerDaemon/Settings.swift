import BrokerAccess
import BrokerConfig
import BrokerEngine
import BrokerHost
import BrokerServer
import BrokerSocket
import Glibc
import Logging

/// What the configuration means for each part.
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

    /// Whoever wrote the setting wanted less than `plain`: what is not understood shows nothing.
    var journalNames: JournalNames.Style { JournalNames.Style(rawValue: log.names) ?? .none }

    var paths: HostPaths { HostPaths(isSystemMode: isSystemMode) }

    /// A broker with many users has no desktop to open a page on.
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

    var lineLimits: ConnectionLimits {
        var limits = ConnectionLimits()
        if isSystemMode { limits.userConnections = max(socket.maxConnections / 8, 1) }
        limits.connections = socket.maxConnections
        limits.halfLine = .seconds(socket.idleLineTimeout)
        return limits
    }
}

extension AppFiles {
    func tell(_ log: Logger) {
        for mistake in mistakes {
            log.error("a file of apps.d counts for nothing", metadata: ["cause": "\(mistake)"])
        }
    }
}

extension BrokerConfiguration.Access {
    /// The settings' choices are the rules' names; a test holds the two together.
    fileprivate var tiers: TierRules {
        var rules = TierRules()
        rules.sandboxed = TierRule(rawValue: sandboxed) ?? .deny
        rules.confined = TierRule(rawValue: confined) ?? .deny
        rules.systemInstalled = TierRule(rawValue: systemInstalled) ?? .deny
        rules.unknown = TierRule(rawValue: unknown) ?? .deny
        return rules
    }
}
