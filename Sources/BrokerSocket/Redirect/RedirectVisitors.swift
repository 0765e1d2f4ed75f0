/// The open connections of all redirect ports, oldest first. Lives on the event loop.
///
/// Each person that a port waits for has slots of their own; all other users of the machine share a few slots, and take none of
/// the person's. Without a free slot, a connection of the user with the most is evicted: one without a request yet, else one that
/// has had its answer. A connection that waits for a page keeps its slot.
final class RedirectVisitors {
    private struct Visitor {
        let handler: RedirectHandler
        let user: LoopbackVisitor
        /// Whether the port waits for a browser of that user.
        let isExpected: Bool
        let port: ObjectIdentifier
    }

    private let limits: RedirectLimits
    private var visitors: [Visitor] = []

    init(limits: RedirectLimits) {
        self.limits = limits
    }

    /// - Parameters:
    ///   - port: the port that it connected to.
    ///   - isExpected: whether the port waits for a browser of that user.
    /// - Returns: whether there is room for one more.
    func enter(_ handler: RedirectHandler, of user: LoopbackVisitor, isExpected: Bool, at port: ObjectIdentifier)
        -> Bool
    {
        let newcomer = Visitor(handler: handler, user: user, isExpected: isExpected, port: port)
        let alike = visitors.filter { $0.isExpected == isExpected && (!isExpected || $0.user == user) }
        if alike.count >= (isExpected ? limits.connections : limits.strangers) {
            guard let dispensable = Self.dispensable(of: alike + [newcomer]) else { return false }
            leave(dispensable)
            dispensable.cutOff()
        }
        visitors.append(newcomer)
        return true
    }

    private static func dispensable(of visitors: [Visitor]) -> RedirectHandler? {
        let byUser = Dictionary(grouping: visitors.dropLast(), by: \.user)
        let newcomer = visitors.last?.user
        func count(_ user: LoopbackVisitor) -> Int { (byUser[user]?.count ?? 0) + (user == newcomer ? 1 : 0) }
        for user in byUser.keys.sorted(by: { count($0) > count($1) }) {
            let theirs = byUser[user] ?? []
            let idle = theirs.first(where: \.handler.hasAskedNothing) ?? theirs.first(where: \.handler.hasItsAnswer)
            if let idle { return idle.handler }
        }
        return nil
    }

    func leave(_ handler: RedirectHandler) {
        visitors.removeAll { $0.handler === handler }
    }

    /// A port closes: connections with a request get the page, others are closed.
    func sendIdleAway(from port: ObjectIdentifier) {
        for visitor in visitors where visitor.port == port && visitor.handler.hasAskedNothing {
            visitor.handler.cutOff()
        }
    }
}
