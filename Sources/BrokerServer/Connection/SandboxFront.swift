import BrokerSocket
import BrokerValues

/// A front that sandboxes reach by a socket in their own folder.
package struct SandboxFront: Sendable {
    /// The socket's, in each folder.
    let fileName: String
    private let service: BrokerService

    package init(_ front: any Front, fileName: String = "broker.sock") {
        self.fileName = fileName
        service = BrokerService(front)
    }

    var door: Door { service.door }

    /// Serves the clients that come by the sandbox's socket.
    func serving(_ door: SandboxBinding) -> any ConnectionService { service.serving(door) }
}
