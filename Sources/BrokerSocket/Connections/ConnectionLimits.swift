/// How much a peer can make the socket layer hold, and for how long.
package struct ConnectionLimits: Sendable {
    /// Bytes in a line, without the newline.
    package var lineLength = 1 << 20
    /// Connections at one time.
    package var connections = 256
    /// Slots beyond them, for owners who may use the reserve and have few connections yet.
    package var reserve = 16
    /// The largest number of connections that counts as few.
    package var few = 3
    /// Connections of one user, if the broker serves many; `nil`: no limit of its own.
    package var userConnections: Int?
    /// Connections of one owner inside of a sandbox, or of all unidentified callers.
    package var sandboxConnections = 32
    /// The part of a user's connections that all unnamed callers together may have (``QuotaOwner/isUnnamed``).
    var unnamedConnections: Int { max((userConnections ?? connections) / 2, 1) }
    /// How long a connection must be quiet to be evicted when the slots run out.
    package var quiet = Duration.seconds(10)
    /// Time from the first byte of a line to its last.
    package var halfLine = Duration.seconds(30)
    /// Written bytes that the peer has not read; beyond it the connection is cut off. The peer's lines are no longer read long
    /// before that, so only requests in progress or subscriptions can fill it.
    package var unreadAnswers = 8 << 20
    /// Bytes of all peers together that wait in memory: incomplete lines, requests in progress, and unread answers. Beyond it the
    /// peer with the most is cut off.
    package var held = 64 << 20
    /// The part of it that all unnamed callers of one user may have.
    package var heldByUnnamed = 16 << 20
    /// How long a connection that is being closed waits for the peer to read the written bytes.
    package var closing = Duration.seconds(5)
    /// How long bytes from a refused peer are read and dropped, so that it gets to read the reason.
    package var linger = Duration.seconds(1)
    /// Refused peers that get that time at once; more get the reason and are cut off.
    package var lingering = 32
    /// Peers without a slot that wait at once for connections about to end; more are refused at once.
    package var waiting = 4
    /// Accepted peers that wait for inspection at once; beyond it no more are accepted.
    package var arrivals = 128

    package init() {}

    /// A connection has its socket, a handle on the process at the other end, and one on a second process that writes.
    private static let descriptorsOfConnection = 3
    /// Descriptors for everything else: redirect ports, providers, the vault.
    private static let otherDescriptors = 512
    /// Open descriptors without any client, and those for inspecting peers.
    private static let ownDescriptors = 36

    /// Descriptors that the process needs for so many connections.
    package var descriptors: Int { (connections + reserve) * Self.descriptorsOfConnection + Self.otherDescriptors }

    /// Lowers the number of connections to what the process can have; a few in any case. Peers that are refused, or not inspected
    /// yet, leave room for them.
    package mutating func fit(descriptors: Int) {
        let room = (descriptors - Self.otherDescriptors) / Self.descriptorsOfConnection - reserve
        connections = min(connections, max(room, Self.fewest))
        // If not even the reserve fits, inspecting a peer must still not fail for lack of a descriptor.
        let places = (descriptors - Self.ownDescriptors) / Self.descriptorsOfConnection
        reserve = min(reserve, max(places - connections, Self.smallestReserve))
        userConnections = userConnections.map { min($0, connections) }
        let taken = Self.ownDescriptors + (connections + reserve) * Self.descriptorsOfConnection
        let rest = max(descriptors - taken, Self.smallestRest)
        // A refused peer has its socket; the others also have a handle on their process.
        lingering = min(lingering, rest / 4)
        waiting = min(waiting, rest / 8)
        arrivals = min(arrivals, rest / 4)
    }

    private static let fewest = 8
    private static let smallestReserve = 2
    private static let smallestRest = 8
}
