import BrokerCommandLine
import BrokerRPC
import BrokerValues

/// The sockets of sandboxes as text.
enum SandboxText {
    /// - Returns: the path, and examples of passing it to common programs.
    static func opened(_ opened: OpenSandbox.Result, as sandbox: Sandbox, in layout: Layout) -> String {
        let path = opened.path
        let folder = path.folder
        let podman = layout.command([
            "podman", "run", "-v", "\(folder):/run/broker:ro", "-e", "BROKER_SOCKET=/run/broker/broker.sock", "...",
        ])
        let bubblewrap = layout.command([
            "bwrap", "--ro-bind", folder, folder, "--setenv", "BROKER_SOCKET", path, "...",
        ])
        return """
            \(sandbox.name.clean) has the socket \(path.clean)
            Give its folder to that sandbox and to no other; for example:
            \(podman)
            \(bubblewrap)
            End it with: brokerctl sandboxes remove \(opened.handle.clean)

            """
    }

    static func list(
        _ sandboxes: [ListSandboxes.OpenedSandbox], now: NumericDate, in layout: Layout
    ) -> String {
        guard !sandboxes.isEmpty else {
            return "No sandbox has a socket of its own. To make one: brokerctl sandboxes add, or run-in.\n"
        }
        var table = Table("HANDLE", "SANDBOX", "INSTANCE", "APPS", "RIGHTS", "ENDS")
        for opened in sandboxes {
            let sandbox = opened.sandbox
            table.add(
                [
                    opened.handle, sandbox.name, sandbox.instance ?? "-",
                    sandbox.apps?.joined(separator: " ") ?? "as granted",
                    sandbox.rights.map(\.rawValue).joined(separator: " "),
                    opened.expiresOn.map { TimeText.relative($0, to: now) } ?? "never",
                ],
                details: [
                    opened.path,
                    "opened \(TimeText.relative(opened.openedOn, to: now)) by \(opened.openedBy.id)",
                ])
        }
        return table.text(in: layout)
    }
}

extension String {
    /// The folder of a path.
    var folder: String { String(self[..<(lastIndex(of: "/") ?? startIndex)]) }
}
