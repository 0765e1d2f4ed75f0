import BrokerCommandLine
import BrokerLink
import BrokerSystem
import BrokerValues
import Glibc

/// One login: a remote folder, the sockets forwarded into it, then the user's program.
///
/// All three share a connection, so that the user enters a password only once. The keeper of the folder starts first, opens
/// the connection, and ends last.
struct SSHLogin {
    let program: SSHProgram
    /// The local sockets of the sandbox, with the variables that name them remotely.
    let sockets: [(name: String, path: String)]
    let command: RemoteProgram
    /// Identifies this login on both sides: 128 random bits, in letters and digits.
    let name = (0..<2).map { _ in String(UInt64.random(in: 0...UInt64.max), radix: 36) }.joined()

    /// - Parameter ended: called after the program has ended, before the remote cleanup.
    /// - Returns: the program's exit status; 255 for a failure of ssh, which has already reported it.
    func status(_ ended: () -> Void) throws(BrokerClientError) -> Int32 {
        let place = try ControlPlace(name)
        defer { place.remove() }
        let sharing = joined ?? .own(controlPath: place.path)
        let keeper = try FolderKeeper(program.first(sharing, RemoteFolder.keeper(name)))
        guard let folder = keeper.folder(name) else { return try failed(keeper.end()) }
        defer { _ = keeper.end() }
        defer {
            // The user's own connection would keep the forwards.
            if case .joined = sharing { for (_, path) in sockets { cancel(path, in: folder, sharing) } }
        }
        for (_, path) in sockets {
            let status = try quietly(program.forward(sharing, from: folder.socket(for: path), to: path))
            guard status == 0 else { return try notForwarded(status) }
        }
        // Runs before the remote folder and its sockets are removed.
        defer { ended() }
        let hasTerminal = command.isLogin && isatty(STDIN_FILENO) == 1
        return try ForegroundProcess.run(
            program.main(
                sharing, command.line(sockets.map { ($0, folder.socket(for: $1)) }), hasTerminal: hasTerminal))
    }

    private func cancel(_ path: String, in folder: RemoteFolder, _ sharing: SSHProgram.Sharing) {
        _ = try? quietly(program.cancel(sharing, from: folder.socket(for: path), to: path))
    }

    /// The user's own connection to that host, if one can be shared.
    private var joined: SSHProgram.Sharing? {
        guard let report = ChildProcess.report(of: program.configuration, atMost: 256 << 10), report.status == 0,
            let path = SSHProgram.controlPath(in: report.text),
            ChildProcess.report(of: program.check(path))?.status == 0
        else { return nil }
        return .joined(controlPath: path)
    }

    private func quietly(_ words: [String]) throws(BrokerClientError) -> Int32 {
        try ForegroundProcess.run(words, streams: [0: .nothing, 1: .nothing, 2: .nothing])
    }

    private func failed(_ status: Int32) throws(BrokerClientError) -> Int32 {
        // ssh has reported the reason, or a signal arrived.
        guard status <= 128 else { return status }
        throw BrokerClientError(
            .unsupported,
            "\(program.host.clean) made no folder for the socket, and nothing was run: a login there must be able "
                + "to run commands with sh (no nologin, no forced command), and to write to /tmp or $XDG_RUNTIME_DIR. "
                + "Plain ssh still works, without tokens.")
    }

    private func notForwarded(_ status: Int32) throws(BrokerClientError) -> Int32 {
        // The exit status of a failure of ssh itself.
        guard status == 255 else { return status }
        throw BrokerClientError(
            .unsupported,
            "\(program.host.clean) forwards no sockets, and nothing was run. Its administrator can allow it in "
                + "sshd_config with AllowStreamLocalForwarding yes (and without DisableForwarding), and your key there "
                + "must not be restricted in authorized_keys. Plain ssh still works, without tokens.")
    }
}
