import BrokerValues

/// Every setting of the daemon with its value, which is within its range.
package struct BrokerConfiguration: Sendable, Equatable {
    /// One broker for every user of the machine.
    package let isSystemMode: Bool
    package var socket = Socket()
    package var doors = Doors()
    package var vault = Vault()
    package var oauth = OAuth()
    package var lock = Lock()
    package var access: Access
    package var admin = Admin()
    package var interaction = Interaction()
    package var cache = Cache()
    package var browser = Browser()
    package var device = Device()
    package var log = Log()
    /// Keyed by the issuer or host that names the table.
    package var providers: [String: ProviderTable] = [:]
    package var apps = AppFiles()
    /// Sandboxes that have a socket as long as the broker runs, keyed by the name of their table.
    package var sandboxes: [String: Sandbox] = [:]
    /// Remarks on settings that are valid, each as a sentence: a name of an earlier release, a setting without effect here.
    package var remarks: [String] = []

    package struct Socket: Sendable, Equatable {
        /// `nil` for the place that the host's conventions name.
        package var path: String?
        package var maxConnections = 256
        package var maxRequestsPerConnection = 64
        /// Seconds.
        package var idleLineTimeout = 30
    }

    /// Sockets for programs that do not speak the broker's protocol.
    package struct Doors: Sendable, Equatable {
        /// `nil`: next to the broker's socket, in user mode; ``off``: none.
        package var oidcAgentSocket: String?
        /// Aliases of apps, for programs that use oidc-agent.
        package var oidcAgentAccounts: [String: String] = [:]

        package static let off = "off"
    }

    package struct Vault: Sendable, Equatable {
        /// `nil` for the place that the host's conventions name.
        package var stateDirectory: String?
        /// `nil`: apart from a vault in the host's conventional place, next to any other vault.
        package var keyDirectory: String?
        /// In order; empty: a new vault gets a key file, an existing one keeps its source.
        package var keySources: [String] = []
        /// Program and arguments; empty: a person enters the passphrase.
        package var passphraseCommand: [String] = []
        /// Limit in MiB for the records of one user; 0: no limit.
        package var quota = 0
    }

    package struct OAuth: Sendable, Equatable {
        package var allowHTTPLoopback = false
        package var caFile: String?
        /// Seconds.
        package var connectTimeout = 10
        /// Seconds, for one whole request.
        package var requestTimeout = 30
    }

    package struct Lock: Sendable, Equatable {
        /// Seconds; 0: never.
        package var afterIdle = 0
        package var onSuspend = false
        package var onScreenLock = false
    }

    package struct Access: Sendable, Equatable {
        package var allowAdHocClients: Bool
        package var allowPrivateAuthorities: Bool
        package var askInBrowser: Bool
        /// The rule for callers of a tier that no app lists: one of ``rules``.
        package var sandboxed = "ask"
        package var confined = "ask"
        package var systemInstalled = "allow"
        package var unknown = "allow"

        package static let rules = ["allow", "ask", "deny"]
    }

    package struct Admin: Sendable, Equatable {
        /// One of ``proofs``.
        package var proof = "outside"

        package static let proofs = ["outside", "setgid", "presence"]
    }

    package struct Interaction: Sendable, Equatable {
        package var maxOpen = 64
        package var maxOpenEach = 16
        package var allowRedirectsOfOtherUsers = false
        package var formPost = false
    }

    package struct Cache: Sendable, Equatable {
        /// Seconds.
        package var expiryBuffer = 300
        /// Percent.
        package var refreshShare = 0
        package var extendedLifetime = false
    }

    package struct Browser: Sendable, Equatable {
        /// Program and arguments; empty: the environment decides.
        package var command: [String] = []
    }

    package struct Device: Sendable, Equatable {
        package var mode = "private"
    }

    package struct Log: Sendable, Equatable {
        package var level = "info"
        /// One of ``nameStyles``.
        package var names = "plain"

        package static let nameStyles = ["plain", "hashed", "none"]
    }

    /// The defaults.
    ///
    /// - Parameter isSystemMode: one broker for many users; nobody then vouches for a client id that an app supplies.
    package init(isSystemMode: Bool = false) {
        self.isSystemMode = isSystemMode
        if isSystemMode { (socket.maxConnections, vault.quota) = (2_048, 64) }
        access = Access(
            allowAdHocClients: !isSystemMode, allowPrivateAuthorities: !isSystemMode, askInBrowser: !isSystemMode)
    }
}
