/// Approximate bytes, as records are measured by ``BrokerModel/SealedRecord/weight``.
package struct CacheLimits: Sendable {
    /// The accounts of groups; a group is in memory as a whole.
    package var accounts = 64 << 20
    package var tokens = 160 << 20
    /// Clients whose family membership is known.
    package var clients = 4_096
    /// Owners and clients without records: refreshes look for tokens of families, which few have.
    package var absent = 8_192

    package init() {}

    /// Limits while there are no requests: what a person uses every day. The rest is read again, a group of ten thousand in an
    /// eighth of a second.
    package static var idle: CacheLimits {
        var limits = CacheLimits()
        (limits.accounts, limits.tokens, limits.clients, limits.absent) = (64 << 10, 128 << 10, 64, 64)
        return limits
    }
}
