import BrokerLink
import BrokerSystem
import BrokerValues
import Glibc

/// The person's configuration file. It is replaced whole, and only by what the daemon takes.
struct OwnConfiguration {
    let path: String

    init() throws(BrokerClientError) {
        let file = try Self.folder() + "/config.toml"
        // A link is followed: many keep their settings elsewhere.
        path = file.realPath ?? file
    }

    /// Where a person's settings for the broker are.
    static func folder() throws(BrokerClientError) -> String {
        func variable(_ name: String) -> String { SocketLocation.variable(name) ?? "" }
        // A relative path there is to be ignored (XDG Base Directory Specification).
        let home = variable("XDG_CONFIG_HOME")
        guard home.hasPrefix("/") || variable("HOME").hasPrefix("/") else {
            throw BrokerClientError(.invalidParameter, "There is no home directory for a configuration; set HOME.")
        }
        return (home.hasPrefix("/") ? home : variable("HOME") + "/.config") + "/brokerd"
    }

    /// Nothing when there is no file yet.
    func text() throws(BrokerClientError) -> String {
        guard access(path, F_OK) == 0 || errno != ENOENT else { return "" }
        guard let bytes = contents(of: path),
            let text = String(validating: bytes, as: UTF8.self)
        else {
            throw BrokerClientError(.internal, "\(path) cannot be read as UTF-8 text, and is left as it is.")
        }
        return text
    }

    /// Where a text is until it takes the file's place: beside it, for a rename, and because a file's apps lie beside it.
    var candidate: String { path + ".new" }

    /// A new file, for nobody else's eyes.
    func write(candidate text: String) throws(BrokerClientError) {
        try PersonalFolder.make(path.folder)
        unlink(candidate)
        let descriptor = makePrivateFile(candidate)
        guard descriptor >= 0 else { throw failed(errno) }
        defer { close(descriptor) }
        guard writeAll(text.utf8, to: descriptor), fsync(descriptor) == 0 else { throw failed(errno) }
    }

    /// - Throws: the daemon's own sentence when it does not take the candidate.
    func check() throws(BrokerClientError) {
        guard let report = DaemonProgram.checkConfiguration(candidate) else { throw ConfigurationReport.noDaemon }
        guard report.status == 0 else {
            throw ConfigurationReport.refused(report.text.replacing(text: candidate, with: path))
        }
    }

    func keep() throws(BrokerClientError) {
        guard rename(candidate, path) == 0 else { throw failed(errno) }
    }

    func discard() { unlink(candidate) }

    private func failed(_ number: Int32) -> BrokerClientError {
        BrokerClientError(.internal, "\(candidate) cannot be written: \(errnoText(number)); nothing has changed.")
    }
}
