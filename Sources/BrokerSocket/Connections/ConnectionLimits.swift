/// How much a peer can make the bytes layer hold, and for how long.
package struct ConnectionLimits: Sendable {
    /// Bytes in a line, without the newline.
    package var lineLength = 1 << 20
    /// Connections at one time.
    package var connections = 256
    /// Places beyond them, for owners who may use the reserve and have few connections yet.
    package var reserve = 16
    /// Connections with which a peer counts as one who has few.
    package var few = 3
    /// Connections of one user, where the broker serves many; nil: as many as there are.
    package var userConnections: Int?
    /// Connections of one owner inside of a sandbox, or of all whom nothing is known about.
    package var sandboxConnections = 32
    /// The part of a user's connections that all unnamed callers together may have (``QuotaOwner/isUnnamed``).
    var unnamedConnections: Int { max((userConnections ?? connections) / 2, 1) }
    /// How long a connection has been quiet that gives way when the places run out.
    package var quiet = Duration.seconds(10)
    /// From the first byte of a line to its last.
    package var halfLine = Duration.seconds(30)
    /// Bytes written that the peer has not taken; beyond it the connection is cut off. Lines are no longer read from a
    /// peer long before that, so only what is under way or what the peer subscribed to can fill it.
    package var unreadAnswers = 8 << 20
    /// Bytes of all peers together that wait in memory: of lines half sent, of requests under way, and of answers that are not
    /// taken. Beyond it whoever has the most is cut off.
    package var held = 64 << 20
    /// What all unnamed callers of one user may have of it.
    package var heldByUnnamed = 16 << 20
    /// How long a connection that is being closed waits for the peer to take what was written.
    package var closing = Duration.seconds(5)
    /// How long a refused peer may go on sending into the void, so that it comes to read why.
    package var linger = Duration.seconds(1)
    /// Refused peers that get that time at once; more are told and cut off.
    package var lingering = 32
    /// Peers without a place that wait at once for connections that are about to end; more are refused without.
    package var waiting = 4
    /// Accepted peers that wait at once to be looked at; beyond it nobody else is accepted.
    package var arrivals = 128

    package init() {}

    /// A connection has its socket, a handle on the process at the other end, and one on a second process that writes.
    private static let descriptorsOfConnection = 3
    /// What everything else takes: redirect ports, providers, the vault.
    private static let otherDescriptors = 512
    /// What the process has open when nobody is connected, and what it takes to look at peers.
    private static let ownDescriptors = 36

    /// What a process needs that has as many connections.
    package var descriptors: Int { (connections + reserve) * Self.descriptorsOfConnection + Self.otherDescriptors }

    /// Has no more connections than the process can have; a few in any case. Peers that are refused, or not looked at yet, leave room
    /// for them.
    package mutating func fit(descriptors: Int) {
        let room = (descriptors - Self.otherDescriptors) / Self.descriptorsOfConnection - reserve
        connections = min(connections, max(room, Self.fewest))
        // Where there is no room for all kept places either, a look at a peer must not fail for want of a descriptor.
        let places = (descriptors - Self.ownDescriptors) / Self.descriptorsOfConnection
        reserve = min(reserve, max(places - connections, Self.smallestReserve))
        userConnections = userConnections.map { min($0, connections) }
        let taken = Self.ownDescriptors + (connections + reserve) * Self.descriptorsOfConnection
        let rest = max(descriptors - taken, Self.smallestRest)
        // The first has its socket; the others have a handle on their process besides.
        lingering = min(lingering, rest / 4)
        waiting = min(waiting, rest / 8)
        arrivals = min(arrivals, rest / 4)
    }

    private static let fewest = 8
    private static let smallestReserve = 2
    private static let smallestRest = 8
}
