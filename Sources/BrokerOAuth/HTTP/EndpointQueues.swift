/// Whose turn it is at each endpoint. libcurl bounds the connections to a host; where several issuers share one, an issuer that
/// hangs must leave some to the others. Used by the loop's thread alone.
struct EndpointQueues {
    struct Waiting {
        let transfer: CurlTransfer
        /// By the clock that also says how long it waited.
        let since: Duration
    }

    private struct Queue {
        var underWay = 0
        var waiting: [Waiting] = []
    }

    /// Requests under way at one endpoint.
    let limit: Int
    private var queues: [String: Queue] = [:]

    init(limit: Int) { self.limit = limit }

    /// - Returns: whether it may begin; otherwise it is kept until somebody leaves.
    mutating func enter(_ transfer: CurlTransfer, at now: Duration) -> Bool {
        // In place: a copy of a queue would make each one who joins copy all who wait.
        let endpoint = transfer.endpoint
        guard queues[endpoint, default: Queue()].underWay < limit else {
            queues[endpoint]?.waiting.append(Waiting(transfer: transfer, since: now))
            return false
        }
        queues[endpoint, default: Queue()].underWay += 1
        return true
    }

    mutating func leave(_ endpoint: String) {
        queues[endpoint]?.underWay -= 1
        if let queue = queues[endpoint], queue.underWay == 0, queue.waiting.isEmpty { queues[endpoint] = nil }
    }

    /// - Returns: the one that has waited longest at this endpoint, if another may begin; it counts as under way.
    mutating func next(at endpoint: String) -> Waiting? {
        guard queues[endpoint].map({ $0.underWay < limit && !$0.waiting.isEmpty }) == true else { return nil }
        queues[endpoint]?.underWay += 1
        return queues[endpoint]?.waiting.removeFirst()
    }

    /// - Returns: those that do not wait any longer.
    mutating func remove(where condition: (CurlTransfer) -> Bool) -> [CurlTransfer] {
        var removed: [CurlTransfer] = []
        for (endpoint, queue) in queues {
            let gone = queue.waiting.map(\.transfer).filter(condition)
            guard !gone.isEmpty else { continue }
            queues[endpoint]?.waiting.removeAll { condition($0.transfer) }
            removed += gone
        }
        return removed
    }
}
