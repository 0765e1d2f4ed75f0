/// Names the sandbox of a process by the records that its engine keeps outside of it.
///
/// A new kind is a file of its own, and an element of ``LinuxPeerInspector``'s list. Its name counts more than that of the socket by
/// which a sandbox asks (``Caller``), so an attestor must not name sandboxes of an engine that opens sockets for them.
protocol SandboxAttestor: Sendable {
    /// Examines the process within bounds that do not depend on the sandbox's content.
    ///
    /// - Returns: the typed name, as `flatpak:org.example.Mail`; `nil` for a sandbox of another kind, and for an unconfirmed name.
    func name(of process: borrowing ProcessFolder, uid: UInt32) -> String?
}
