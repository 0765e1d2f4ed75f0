import BrokerValues

/// Every setting of the daemon with its value. A value that is here is within its range.
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
    /// By the issuer or host that names the table.
    package var providers: [String: ProviderTable] = [:]
    package var apps = AppFiles()
    /// Those that have a socket as long as the broker runs, by the name of their table.
    package var sandboxes: [String: Sandbox] = [:]
    /// What is no mistake, and should be written otherwise, each as a sentence: a setting that a file calls as an earlier release
    /// did, or one that counts for nothing here.
    package var remarks: [String] = []

    package struct Socket: Sendable, Equatable {
        /// Nil: where the host's conventions put it.
        package var path: String?
        package var maxConnections = 256
        package var maxRequestsPerConnection = 64
        /// Seconds.
        package var idleLineTimeout = 30
    }

    /// Sockets for programs that do not speak the broker's protocol.
    package struct Doors: Sendable, Equatable {
        /// Nil: beside the broker's socket, in user mode; ``off``: none.
        package var oidcAgentSocket: String?
        /// Other names of apps, as programs know them that ask oidc-agent.
        package var oidcAgentAccounts: [String: String] = [:]

        package static let off = "off"
    }

    package struct Vault: Sendable, Equatable {
        /// Nil: where the host's conventions put it.
        package var stateDirectory: String?
        /// Nil: apart from a vault that lies where the host's conventions put it, else beside the vault.
        package var keyDirectory: String?
        /// In order; empty: a new vault gets a key file, an existing one keeps what it has.
        package var keySources: [String] = []
        /// Program and arguments; empty: people bring the passphrase.
        package var passphraseCommand: [String] = []
        /// MiB of the records of one user; 0: no limit.
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
        /// What callers of a tier may do that no app lists: one of ``rules``.
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
        /// Program and arguments; empty: what the environment says.
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
    /// - Parameter isSystemMode: one broker for many users: there nobody vouches for a client id that an app brings.
    package init(isSystemMode: Bool = false) {
        self.isSystemMode = isSystemMode
        if isSystemMode { (socket.maxConnections, vault.quota) = (2_048, 64) }
        access = Access(
            allowAdHocClients: !isSystemMode, allowPrivateAuthorities: !isSystemMode, askInBrowser: !isSystemMode)
    }
}
