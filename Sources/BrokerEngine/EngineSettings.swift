import BrokerModel
import BrokerValues
import Synchronization

/// What an administrator may set; a reload takes effect with the next request.
package struct EngineSettings: Sendable, Equatable {
    /// Seconds before its expiry at which an access token counts as expired (MSAL's default: 300); at most a fifth of its
    /// own lifetime.
    package var expiryBuffer: Int64 = 300
    /// Lifetime of a token whose provider does not say (MSAL: 3600 s).
    package var defaultLifetime: Int64 = 3600
    /// Seconds after which writes that the disk refused are tried again.
    package var writeRetryInterval: Int64 = 5
    /// Percent of a token's lifetime after which it is renewed in the background, when its provider does not say when
    /// (`refresh_in`); 0 leaves it until it expires.
    package var refreshShare = 0
    /// Whether a token past its expiry is handed out while the provider is down, as far as the provider allows.
    package var extendedLifetime = false
    /// Seconds a caller waits for a refresh; the refresh itself may go on.
    package var answerPatience: Int64 = 30

    /// Sign-ins, and sign-outs in a browser, that may wait for a person at a time; and of one app, or one program or sandbox.
    package var openInteractions = 64
    package var openInteractionsEach = 16

    /// Whether sign-ins ask providers that offer it for the answer in a form, where the broker listens for it (decision 166).
    package var asksForForms = false

    /// How the authorities of records are read, and which clouds belong together.
    package var authorities = AuthorityParser()

    /// Seconds without a request after which the broker locks itself; 0 for never.
    package var lockAfterIdle: Int64 = 0

    /// Bytes that the records of one user may take; nil for no limit.
    package var partitionQuota: Int?

    /// Whether people take turns at this machine: a sign-out is then for all apps.
    package var isSharedDevice = false

    /// Whether the journal quotes what a provider wrote, which may name a person (decision 170).
    package var quotesProviders = true

    package init() {}

    /// Nil: the broker does not lock itself.
    var idleLimit: Duration? { lockAfterIdle > 0 ? .seconds(lockAfterIdle) : nil }
}

/// The settings in force.
final class SettingsBox: Sendable {
    private let settings: Mutex<EngineSettings>
    init(_ settings: EngineSettings) { self.settings = Mutex(settings) }

    var value: EngineSettings {
        get { settings.withLock { $0 } }
        set {
            settings.withLock { $0 = newValue }
        }
    }

    func callAsFunction() -> EngineSettings { value }

    /// Without a copy of all of them: for the hot path.
    func read<Value: Sendable>(_ body: (EngineSettings) -> Value) -> Value { settings.withLock { body($0) } }
}
