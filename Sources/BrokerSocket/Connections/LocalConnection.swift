import BrokerModel

/// One peer, as the layers above see it.
///
/// Every method may be called from any thread, and costs no hop on the reactor's own thread. After the end of the connection they do nothing.
package final class LocalConnection: SlotHolder {
    /// Unique within the process, counting up.
    package let id: UInt64
    /// From the kernel, at accept.
    package let peer: PeerCredentials
    /// The reactor on whose thread the handler lives.
    package let reactor: Reactor
    private let channel: ReactorBound<ConnectionChannel>
    private let table: ConnectionTable

    init(
        id: UInt64, peer: PeerCredentials, channel: ConnectionChannel, table: ConnectionTable, reactor: Reactor
    ) {
        self.id = id
        self.peer = peer
        self.reactor = reactor
        self.table = table
        self.channel = ReactorBound(channel, of: reactor)
    }

    /// Number of all connections, this one included.
    package var count: Int { table.count }

    /// Sends one or more whole lines, newlines included. Lines of different calls are never mixed; calls made from one
    /// task or thread keep their order.
    package func write(_ lines: [UInt8]) {
        onLoop { $0.write(lines) }
    }

    /// As ``write(_:)``, on the reactor's thread: the lines may be moved out, and other memory left in their place, so that bytes
    /// sent at once need no further copy to overwrite.
    package func write(taking lines: inout [UInt8]) { channel.value.write(taking: &lines) }

    /// Ends the connection when everything written so far is sent. No further line is delivered.
    package func close() {
        onLoop { $0.closeWhenSent() }
    }

    /// Stops the delivery of lines, and the reading that leads to it.
    package func pauseReading() {
        onLoop { $0.setPaused(true) }
    }

    package func resumeReading() {
        onLoop { $0.setPaused(false) }
    }

    /// - Parameter bytes: bytes of requests in progress on this connection: they count as the peer's memory.
    package func works(on bytes: Int) {
        onLoop { $0.works(on: bytes) }
    }

    // MARK: SlotHolder

    var quietSince: MonotonicInstant? { channel.value.quietSince }

    func evict() {
        onLoop { $0.evict() }
    }

    func giveBackMemory() {
        onLoop { $0.giveBackMemory() }
    }

    func drain() {
        onLoop { $0.drain() }
    }

    func cutOff() {
        onLoop { $0.cutOff() }
    }

    private func onLoop(_ action: @escaping @Sendable (ConnectionChannel) -> Void) {
        if reactor.isCurrent {
            action(channel.value)
        } else {
            reactor.execute { action(self.channel.value) }
        }
    }
}
