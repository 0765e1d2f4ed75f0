extension CacheIndex {
    /// Roughly bytes, of records as ``BrokerModel/SealedRecord/weight`` has them.
    package struct Limits: Sendable {
        /// The accounts of groups; a group is in memory whole.
        package var accounts = 64 << 20
        package var tokens = 160 << 20
        /// Clients of which it is known whether they are of a family.
        package var clients = 4_096
        /// Owners and clients of whom there is nothing: refreshes look for tokens of families, which few have.
        package var absent = 8_192

        package init() {}

        /// While nothing is asked for: what a person uses every day. The rest is read again, a group of ten thousand in an eighth
        /// of a second.
        package static var idle: Limits {
            var limits = Limits()
            (limits.accounts, limits.tokens, limits.clients, limits.absent) = (64 << 10, 128 << 10, 64, 64)
            return limits
        }
    }
}
