import BrokerModel
import BrokerValues

/// The sandboxes' sockets, each from the allocation of its handle until its last client has gone, and the limits of their number.
struct SandboxPlaces {
    /// Limit of all; one person may use as many as are left free for others.
    static let most = 128

    private struct Place {
        let partition: Partition
        let payer: Partition
        /// `nil` while it is being opened, and after its end.
        var socket: SandboxSocket?
        /// May be set while it is being opened.
        var hasEnded = false
        var timer: Task<Void, any Error>?
        /// The connection that it ends with.
        var binding: ConnectionBinding?
        /// Fulfilled when its last client has gone.
        let isFree = Promise<Void>()

        /// - Returns: the socket to shut down.
        mutating func end() -> SandboxSocket? {
            timer?.cancel()
            if let socket { binding?.remove(socket.handle) }
            defer { (hasEnded, socket, timer, binding) = (true, nil, nil, nil) }
            return socket
        }
    }

    /// By handle.
    private var places: [String: Place] = [:]
    /// One share for each of them.
    private var shares = FairQuota<Partition, String>(limit: most)

    /// - Returns: whether there is room for one more of the user who pays.
    mutating func take(_ handle: String, of partition: Partition, paidBy payer: Partition) -> Bool {
        guard shares.take(for: handle, of: payer) else { return false }
        places[handle] = Place(partition: partition, payer: payer)
        return true
    }

    /// - Returns: whether the place existed.
    mutating func leave(_ handle: String) -> Bool {
        guard let place = places.removeValue(forKey: handle) else { return false }
        shares.leave(for: handle, of: place.payer)
        place.isFree.fulfil(())
        return true
    }

    /// The end of a place whose socket is being shut down.
    func ending(_ handle: String) -> Promise<Void>? {
        places[handle].flatMap { $0.hasEnded ? $0.isFree : nil }
    }

    /// - Parameter timer: ends it after its lifetime.
    /// - Returns: false if it was ended while it was being opened.
    mutating func open(_ socket: SandboxSocket, timer: () -> Task<Void, any Error>?) -> Bool {
        guard places[socket.handle]?.hasEnded == false else { return false }
        places[socket.handle]?.socket = socket
        places[socket.handle]?.timer = timer()
        return true
    }

    /// - Parameter end: called when the connection ends.
    /// - Returns: false if the connection has ended.
    mutating func bind(
        _ handle: String, to binding: ConnectionBinding, _ end: @escaping @Sendable () -> Void
    ) -> Bool {
        guard places[handle]?.socket != nil else { return true }
        places[handle]?.binding = binding
        return binding.add(handle, end)
    }

    /// - Returns: the socket to shut down; its place stays until then.
    mutating func end(_ handle: String) -> SandboxSocket? { places[handle]?.end() }

    /// - Returns: the sockets to shut down, which have no place any more; and the ends of those that are being shut down already.
    mutating func endAll() -> (sockets: [SandboxSocket], ending: [Promise<Void>]) {
        let ending = places.values.filter(\.hasEnded).map(\.isFree)
        var sockets: [SandboxSocket] = []
        for (handle, var place) in places where !place.hasEnded {
            if let socket = place.end() { sockets.append(socket) }
            _ = leave(handle)
        }
        return (sockets, ending)
    }

    /// Those of open sockets, and of those that are being opened.
    func handles(of partition: Partition) -> [String] {
        places.filter { $0.value.partition == partition }.map(\.key)
    }

    var open: [SandboxSocket] { places.values.compactMap(\.socket) }

    func owner(of handle: String) -> Partition? { places[handle]?.socket?.partition }
}
