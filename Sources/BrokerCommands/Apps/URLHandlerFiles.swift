import BrokerLink
import BrokerSystem
import Glibc

/// The folders where the user's desktop looks for handlers (XDG Base Directory Specification).
struct URLHandlerFiles {
    private let data: String
    private let configuration: String

    /// - Returns: `nil` without a home directory: then no desktop looks for handlers.
    init?() {
        func folder(_ variable: String, _ standard: String) -> String? {
            // The specification says to ignore a relative path.
            if let path = SocketLocation.variable(variable), path.hasPrefix("/") { return path }
            return SocketLocation.variable("HOME").map { "\($0)/\(standard)" }
        }
        guard let data = folder("XDG_DATA_HOME", ".local/share"),
            let configuration = folder("XDG_CONFIG_HOME", ".config")
        else { return nil }
        self.data = data
        self.configuration = configuration
    }

    private func entry(_ app: String) -> String { "\(data)/applications/\(URLHandler.desktopID(of: app))" }
    private var associations: String { "\(configuration)/mimeapps.list" }

    /// - Parameter socket: the broker's, if it is none of the usual ones: the desktop passes no variables of this shell.
    func install(_ handler: URLHandler, socket: String?) throws(BrokerClientError) {
        guard let program = "/proc/self/exe".realPath else {
            throw BrokerClientError(.internal, "brokerctl does not know where it is installed.")
        }
        let command = [program] + (socket.map { ["--socket", $0] } ?? [])
        let id = URLHandler.desktopID(of: handler.app)
        let others = MimeApplications.removing(id, from: try editableText(ofFileAt: associations))
        try write(handler.desktopEntry(command: command), to: entry(handler.app))
        try write(MimeApplications.adding(id, for: handler.mimeType, to: others), to: associations)
    }

    /// Removes the app's handler, if there is one.
    func remove(_ app: String) throws(BrokerClientError) {
        let isGone = unlink(entry(app)) != 0
        let id = URLHandler.desktopID(of: app)
        guard let before = try? editableText(ofFileAt: associations) else {
            if isGone { return }
            throw BrokerClientError(.internal, "\(associations) cannot be read as UTF-8 text; remove \(id) from it.")
        }
        let after = MimeApplications.removing(id, from: before)
        if before != after { try write(after, to: associations) }
    }

    /// Writes atomically. A link is followed: many people keep their settings elsewhere.
    private func write(_ text: String, to path: String) throws(BrokerClientError) {
        let target = path.realPath ?? path
        var facts = stat()
        let mode = stat(target, &facts) == 0 ? facts.st_mode & 0o777 : 0o644
        do throws(BrokerClientError) {
            try PersonalFolder.make(target.folder)
            let file = try NewFile(at: target, replacing: true, mode: mode)
            try file.write(text.utf8)
            try file.publish()
        } catch {
            throw BrokerClientError(.internal, "\(path) could not be written.", cause: error)
        }
    }
}
