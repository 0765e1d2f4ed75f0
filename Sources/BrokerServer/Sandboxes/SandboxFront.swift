import BrokerSocket
import BrokerValues

/// A front for sandboxes, on a socket in each one's own folder.
package struct SandboxFront: Sendable {
    /// The socket's file name in each folder.
    let fileName: String
    private let service: FrontService

    package init(_ service: FrontService, fileName: String = "broker.sock") {
        (self.service, self.fileName) = (service, fileName)
    }

    var door: Door { service.door }

    /// Serves the clients of the sandbox's socket.
    func serving(_ sandbox: SandboxBinding) -> any ConnectionService { service.serving(sandbox) }
}
