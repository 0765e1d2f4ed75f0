import CCurl

/// Connections by issuer: what is written on one issuer's is never read as another's answer. Used by the loop's thread alone.
///
/// An issuer has them while requests of its are under way, and afterwards for as long as they could still be used.
final class ConnectionPools {
    private struct Pool {
        let share: UnsafeMutableRawPointer
        var transfers = 0
        var idleSince = Duration.zero
    }

    private var pools: [String: Pool] = [:]
    private let longestIdle: Duration
    private let mostIdle: Int

    /// - Parameters:
    ///   - longestIdle: how long connections are kept while nothing is asked of their issuer.
    ///   - mostIdle: issuers; of more, the ones that have been idle for longest lose their connections.
    init(longestIdle: Duration, mostIdle: Int) {
        self.longestIdle = longestIdle
        self.mostIdle = mostIdle
    }

    /// - Returns: nil when there is no memory. Otherwise ``leave(_:at:)`` is to follow.
    func enter(_ issuer: String) -> UnsafeMutableRawPointer? {
        guard let share = pools[issuer]?.share ?? ccurl_make_connection_share() else { return nil }
        pools[issuer, default: Pool(share: share)].transfers += 1
        return share
    }

    /// After the transfer's handle is gone.
    func leave(_ issuer: String, at now: Duration) {
        pools[issuer]?.transfers -= 1
        pools[issuer]?.idleSince = now
    }

    /// Closes what is not kept any longer.
    func tidy(at now: Duration) {
        let idle = pools.filter { $0.value.transfers == 0 }.sorted { $0.value.idleSince < $1.value.idleSince }
        let tooMany = idle.dropLast(mostIdle).map(\.key)
        let tooOld = idle.filter { now - $0.value.idleSince > longestIdle }.map(\.key)
        for issuer in Set(tooMany + tooOld) {
            if let pool = pools.removeValue(forKey: issuer) { curl_share_cleanup(pool.share) }
        }
    }

    /// All of them; no transfer is left.
    func close() {
        for pool in pools.values { curl_share_cleanup(pool.share) }
        pools = [:]
    }
}
