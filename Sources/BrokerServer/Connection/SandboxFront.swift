import BrokerSocket
import BrokerValues

/// A front for sandboxes, on a socket in each one's own folder.
package struct SandboxFront: Sendable {
    /// The socket's file name in each folder.
    let fileName: String
    private let service: BrokerService

    package init(_ front: any Front, fileName: String = "broker.sock") {
        self.fileName = fileName
        service = BrokerService(front)
    }

    var door: Door { service.door }

    /// Serves the clients of the sandbox's socket.
    func serving(_ door: SandboxBinding) -> any ConnectionService { service.serving(door) }
}
