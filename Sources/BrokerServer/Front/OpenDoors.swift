import BrokerRPC
import BrokerValues
import Synchronization

/// The open doors in addition to the broker's own socket, for `broker.status`.
package final class OpenDoors: Sendable {
    private let doors = Mutex<[OpenDoor]>([])

    package func add(_ door: Door, at path: String) {
        doors.withLock { $0.append(OpenDoor(name: door.rawValue, path: path)) }
    }

    var all: [OpenDoor] { doors.withLock(\.self) }
}
