import CCurl

/// Connections by issuer: bytes on one issuer's connection are never read as another's response. Used by the loop's thread only.
///
/// An issuer has a pool while requests to it are in progress, and afterwards for as long as its connections are usable.
final class ConnectionPools {
    private struct Pool {
        let share: UnsafeMutableRawPointer
        var transfers = 0
        var idleSince = Duration.zero
    }

    private var pools: [String: Pool] = [:]
    private let longestIdle: Duration
    private let maximumIdle: Int

    /// - Parameters:
    ///   - longestIdle: how long connections are kept while their issuer gets no requests.
    ///   - maximumIdle: the maximum number of idle issuers; beyond it, the longest idle ones lose their connections.
    init(longestIdle: Duration, maximumIdle: Int) {
        self.longestIdle = longestIdle
        self.maximumIdle = maximumIdle
    }

    /// - Returns: `nil` if memory is exhausted. Otherwise ``leave(_:at:)`` must follow.
    func enter(_ issuer: String) -> UnsafeMutableRawPointer? {
        guard let share = pools[issuer]?.share ?? ccurl_make_connection_share() else { return nil }
        pools[issuer, default: Pool(share: share)].transfers += 1
        return share
    }

    /// Called after the transfer's handle is freed.
    func leave(_ issuer: String, at now: Duration) {
        pools[issuer]?.transfers -= 1
        pools[issuer]?.idleSince = now
    }

    /// Closes connections that have expired.
    func tidy(at now: Duration) {
        let idle = pools.filter { $0.value.transfers == 0 }.sorted { $0.value.idleSince < $1.value.idleSince }
        let tooMany = idle.dropLast(maximumIdle).map(\.key)
        let tooOld = idle.filter { now - $0.value.idleSince > longestIdle }.map(\.key)
        for issuer in Set(tooMany + tooOld) {
            if let pool = pools.removeValue(forKey: issuer) { curl_share_cleanup(pool.share) }
        }
    }

    /// Closes all of them; no transfer is left.
    func close() {
        for pool in pools.values { curl_share_cleanup(pool.share) }
        pools = [:]
    }
}
