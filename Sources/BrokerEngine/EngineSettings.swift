import BrokerValues

/// What an administrator may set; a reload takes effect with the next request.
package struct EngineSettings: Sendable, Equatable {
    /// Seconds before its expiry at which an access token counts as expired (MSAL's default: 300).
    package var expiryBuffer: Int64 = 300
    /// Lifetime of a token whose provider does not say (MSAL: 3600 s).
    package var defaultLifetime: Int64 = 3600
    /// Seconds after which writes that the disk refused are tried again.
    package var writeRetryInterval: Int64 = 5
    /// Owners (client and account) whose tokens stay indexed in memory; others are read again when asked for.
    package var indexedOwners = 512

    package init() {}
}
