/// A front for sandboxes, on a socket in each one's own folder.
package struct SandboxFront: Sendable {
    let service: FrontService
    /// The socket's file name in each folder.
    let fileName: String

    package init(_ service: FrontService, fileName: String = "broker.sock") {
        (self.service, self.fileName) = (service, fileName)
    }
}
