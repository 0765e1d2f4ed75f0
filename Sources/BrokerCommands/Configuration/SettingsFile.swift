import BrokerLink
import BrokerSystem
import BrokerValues
import Glibc

/// The configuration file that a broker's settings are written to: the person's, or root's for the machine's broker. It is replaced
/// whole, and only by what the daemon takes.
struct SettingsFile {
    let path: String
    private let broker: TargetBroker
    private var isMachines: Bool { broker.mode == .system }

    init(of broker: TargetBroker) throws(BrokerClientError) {
        let file = try broker.ownFile()
        guard broker.isBelieved(file) else {
            throw BrokerClientError(
                .accessDenied,
                "Only the broker itself says that it reads \(file). If it does, change that file with an editor."
            )
        }
        // A link is followed: many keep their settings elsewhere.
        path = file.realPath ?? file
        self.broker = broker
    }

    /// - Throws: to who may not write it.
    func requireRight() throws(BrokerClientError) {
        guard isMachines, geteuid() != 0 else { return }
        throw BrokerClientError(
            .accessDenied,
            "This broker serves every user of the machine and reads \(path), which root changes; ask an administrator.")
    }

    /// Nothing when there is no file yet.
    func text() throws(BrokerClientError) -> String {
        guard access(path, F_OK) == 0 || errno != ENOENT else { return "" }
        guard let bytes = contents(ofFileAt: path),
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
        try requireRight()
        // The machine's broker has an account of its own, and has to get there.
        if !isMachines || mkdir(path.folder, 0o755) != 0 { try PersonalFolder.make(path.folder) }
        unlink(candidate)
        let descriptor = makePrivateFile(candidate)
        guard descriptor >= 0 else { throw failed(errno) }
        defer { close(descriptor) }
        guard writeAll(text.utf8, to: descriptor), fsync(descriptor) == 0 else { throw failed(errno) }
    }

    /// - Throws: the daemon's own sentence when it does not take the candidate.
    func check() throws(BrokerClientError) {
        guard let report = DaemonProgram.checkConfiguration(of: broker, candidate) else {
            throw ConfigurationReport.noDaemon
        }
        guard ConfigurationReport.all(in: report.text) != nil else {
            throw ConfigurationReport.refused(report.text.replacing(text: candidate, with: path))
        }
    }

    func keep() throws(BrokerClientError) {
        if isMachines {
            // Whoever could read it can go on doing so; above all the broker.
            var before = stat()
            let isNew = stat(path, &before) != 0
            guard chown(candidate, isNew ? 0 : before.st_uid, isNew ? 0 : before.st_gid) == 0,
                chmod(candidate, isNew ? 0o644 : before.st_mode & 0o777) == 0
            else { throw failed(errno) }
        }
        guard rename(candidate, path) == 0 else { throw failed(errno) }
    }

    func discard() { unlink(candidate) }

    private func failed(_ number: Int32) -> BrokerClientError {
        BrokerClientError(.internal, "\(candidate) cannot be written: \(errnoText(number)); nothing has changed.")
    }
}
