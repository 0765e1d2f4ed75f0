/// The open connections of all redirect ports, oldest first. Lives on the event loop.
///
/// Each person that a port waits for has places of their own; whoever else of the machine comes to it has few places, together
/// with all others, and takes none of the person's. Where there is no place, a connection gives way of whoever has the most: one that has asked nothing yet, else
/// one that has had its answer. Who waits for a page keeps its place.
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
    ///   - port: which it came to.
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

    /// A port closes: who asked gets the page, who did not can go.
    func sendIdleAway(from port: ObjectIdentifier) {
        for visitor in visitors where visitor.port == port && visitor.handler.hasAskedNothing {
            visitor.handler.cutOff()
        }
    }
}
