import BrokerRPC
import BrokerValues
import Synchronization

/// The doors that are open beside the broker's own socket, for `broker.status`.
package final class OpenDoors: Sendable {
    private let doors = Mutex<[GetBrokerStatus.Door]>([])

    package func add(_ door: Door, at path: String) {
        doors.withLock { $0.append(GetBrokerStatus.Door(name: door.rawValue, path: path)) }
    }

    var all: [GetBrokerStatus.Door] { doors.withLock(\.self) }
}
