import NIOCore

/// The open connections of one port, oldest first. Lives on the event loop.
final class RedirectVisitors {
    private let limit: Int
    private var visitors: [RedirectHandler] = []

    init(limit: Int) {
        self.limit = limit
    }

    /// - Returns: whether there is room for one more; a connection that has asked nothing yet makes room.
    func enter(_ visitor: RedirectHandler) -> Bool {
        if visitors.count >= limit {
            guard let idle = visitors.first(where: \.hasAskedNothing) else { return false }
            leave(idle)
            idle.cutOff()
        }
        visitors.append(visitor)
        return true
    }

    func leave(_ visitor: RedirectHandler) {
        visitors.removeAll { $0 === visitor }
    }

    /// The port closes: who asked gets the page, who did not can go.
    func sendIdleAway() {
        for visitor in visitors where visitor.hasAskedNothing { visitor.cutOff() }
    }
}
