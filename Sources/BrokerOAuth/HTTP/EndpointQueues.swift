/// Queues requests. An issuer has a limited number of requests in progress, and each of its endpoints a part of them: an endpoint
/// that hangs leaves places to the others. An issuer has no more connections than requests, so these are bounded, too; libcurl
/// 8.14 does not count shared connections. Used by the loop's thread only.
struct EndpointQueues {
    struct Waiting {
        let transfer: CurlTransfer
        /// On the clock that also measures the wait.
        let since: Duration
    }

    private struct Queue {
        /// Counts by endpoint.
        var underWay: [String: Int] = [:]
        var waiting: [Waiting] = []
        var count: Int { underWay.values.reduce(0, +) }
    }

    private let issuerLimit: Int
    private let endpointLimit: Int
    private var queues: [String: Queue] = [:]

    /// Limits requests in progress, per issuer and per endpoint.
    init(issuerLimit: Int, endpointLimit: Int) {
        (self.issuerLimit, self.endpointLimit) = (issuerLimit, endpointLimit)
    }

    /// - Returns: whether it may begin; otherwise it is kept until another leaves.
    mutating func enter(_ transfer: CurlTransfer, at now: Duration) -> Bool {
        // In place: with a copy of the queue, each new transfer would copy all waiting ones.
        let issuer = transfer.issuer
        guard hasRoom(for: transfer) else {
            queues[issuer, default: Queue()].waiting.append(Waiting(transfer: transfer, since: now))
            return false
        }
        queues[issuer, default: Queue()].underWay[transfer.endpoint, default: 0] += 1
        return true
    }

    mutating func leave(_ transfer: CurlTransfer) {
        let (issuer, endpoint) = (transfer.issuer, transfer.endpoint)
        guard let count = queues[issuer]?.underWay[endpoint] else { return }
        queues[issuer]?.underWay[endpoint] = count > 1 ? count - 1 : nil
        if let queue = queues[issuer], queue.underWay.isEmpty, queue.waiting.isEmpty { queues[issuer] = nil }
    }

    /// - Returns: the issuer's transfer that has waited longest and may begin; it counts as in progress.
    mutating func next(of issuer: String) -> Waiting? {
        guard let index = queues[issuer]?.waiting.firstIndex(where: { hasRoom(for: $0.transfer) }),
            let next = queues[issuer]?.waiting.remove(at: index)
        else { return nil }
        queues[issuer]?.underWay[next.transfer.endpoint, default: 0] += 1
        return next
    }

    /// - Returns: the removed transfers.
    mutating func remove(where condition: (CurlTransfer) -> Bool) -> [CurlTransfer] {
        var removed: [CurlTransfer] = []
        for (issuer, queue) in queues {
            let gone = queue.waiting.map(\.transfer).filter(condition)
            guard !gone.isEmpty else { continue }
            queues[issuer]?.waiting.removeAll { condition($0.transfer) }
            removed += gone
        }
        return removed
    }

    private func hasRoom(for transfer: CurlTransfer) -> Bool {
        guard let queue = queues[transfer.issuer] else { return true }
        return queue.count < issuerLimit && queue.underWay[transfer.endpoint, default: 0] < endpointLimit
    }
}
