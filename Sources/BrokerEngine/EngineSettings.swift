import BrokerModel
import BrokerValues
import Logging
import Synchronization

/// The administrator's settings; a reload takes effect with the next request.
package struct EngineSettings: Sendable, Equatable {
    /// Seconds before its expiry at which an access token counts as expired (MSAL's default: 300); at most a fifth of its lifetime.
    package var expiryBuffer: Int64 = 300
    /// Lifetime of a token whose provider does not say (MSAL: 3600 s).
    package var defaultLifetime: Int64 = 3600
    /// Seconds after which writes that the disk refused are tried again.
    package var writeRetryInterval: Int64 = 5
    /// Percent of a token's lifetime after which it is renewed in the background, if its provider does not say when (`refresh_in`);
    /// 0 leaves it until it expires.
    package var refreshShare = 0
    /// Whether an expired token is returned while the provider is down, as far as the provider allows.
    package var extendedLifetime = false
    /// Seconds a caller waits for a refresh; the refresh itself may go on.
    package var answerPatience: Int64 = 30

    /// The limits of concurrent sign-ins and browser sign-outs: in total, and for one app, program or sandbox.
    package var openInteractions = 64
    package var openInteractionsEach = 16

    /// Whether sign-ins request `form_post` responses from providers that support them, if the broker listens for the answer
    /// (decision 20).
    package var asksForForms = false

    /// Parses the authorities of records, and knows which clouds belong together.
    package var authorities = AuthorityParser()

    /// Seconds without a request after which the broker locks itself; 0 for never.
    package var lockAfterIdle: Int64 = 0

    /// The limit of bytes for the records of one user; `nil` for none.
    package var partitionQuota: Int?

    /// Whether people take turns at this machine: a sign-out then covers all apps.
    package var isSharedDevice = false

    /// Whether the journal quotes a provider's texts, which may name a person (decision 28).
    package var quotesProviders = true

    package init() {}

    /// The time without a request after which the broker locks itself; `nil` for never.
    var idleLimit: Duration? { lockAfterIdle > 0 ? .seconds(lockAfterIdle) : nil }
}

/// The current settings.
final class SettingsBox: Sendable {
    private let settings: Mutex<EngineSettings>
    init(_ settings: EngineSettings) { self.settings = Mutex(settings) }

    var value: EngineSettings {
        get { settings.withLock { $0 } }
        set { settings.withLock { $0 = newValue } }
    }

    /// Reads settings without copying all of them, for the hot path.
    func read<Value: Sendable>(_ body: (EngineSettings) -> Value) -> Value { settings.withLock { body($0) } }

    /// The text for the journal of an error that may quote a provider.
    func quoted(_ error: some Error) -> Logger.MetadataValue {
        value.quotesProviders ? "\(error)" : "(withheld)"
    }
}
