/// The limits of the cache in memory: ``accounts`` and ``tokens`` in approximate bytes (``BrokerModel/SealedRecord/weight``),
/// ``clients`` and ``absent`` in entries.
package struct CacheLimits: Sendable {
    /// The accounts of groups; a group is in memory as a whole.
    package var accounts = 64 << 20
    package var tokens = 160 << 20
    /// Clients whose family membership is known.
    package var clients = 4_096
    /// Owners and clients without records: refreshes look for tokens of families, which few have.
    package var absent = 8_192

    package init() {}

    /// The limits while there are no requests: room for what a person uses every day. Other records are read again on demand; a
    /// group of ten thousand accounts takes an eighth of a second.
    package static var idle: CacheLimits {
        var limits = CacheLimits()
        (limits.accounts, limits.tokens, limits.clients, limits.absent) = (64 << 10, 128 << 10, 64, 64)
        return limits
    }
}
