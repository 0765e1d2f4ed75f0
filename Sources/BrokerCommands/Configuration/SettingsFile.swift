import BrokerLink
import BrokerSystem
import BrokerValues
import Glibc

/// The file to which a broker's settings are written: the user's, or root's for the machine's broker. It is replaced atomically, and
/// only with a text that the daemon accepts.
struct SettingsFile {
    let path: String
    /// The path of the new text before it replaces the file; unique to this process. It is in the file's folder, for
    /// the rename, and because the file's apps are there.
    let candidate: String
    private let broker: TargetBroker
    private static let mark = ".brokerctl-"
    private var isMachines: Bool { broker.mode == .system }

    init(of broker: TargetBroker) throws(BrokerClientError) {
        let file = try broker.ownFile()
        guard broker.isBelieved(file) else {
            throw BrokerClientError(
                .accessDenied,
                "Only the broker itself claims that it reads \(file). If that is right, change the file with an editor."
            )
        }
        // A link is followed: many people keep their settings elsewhere.
        path = file.realPath ?? file
        candidate = "\(path)\(Self.mark)\(String(UInt64.random(in: 0...UInt64.max), radix: 36))"
        self.broker = broker
    }

    /// - Throws: if the user may not write it.
    func requireRight() throws(BrokerClientError) {
        guard isMachines, geteuid() != 0 else { return }
        throw BrokerClientError(
            .accessDenied,
            "This broker serves every user of the machine and reads \(path), which is root's; ask an administrator.")
    }

    /// Empty if there is no file yet.
    func text() throws(BrokerClientError) -> String { try editableText(ofFileAt: path) }

    /// Keeps other brokerctl processes from changing the file meanwhile, so that no change is lost.
    func whileLocked(_ change: () throws(BrokerClientError) -> Void) throws(BrokerClientError) {
        try makeFolder()
        // A lock on the file itself would be replaced with it. If the file system has no locks, there is none.
        let folder = open(path.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { if folder >= 0 { close(folder) } }
        var attempts = 500
        while flock(folder, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK || errno == EINTR {
            attempts -= 1
            guard attempts > 0 else {
                throw BrokerClientError(
                    .internal,
                    "\(path.folder) is locked by another program (lslocks names it); nothing has changed.")
            }
            usleep(20_000)
        }
        try change()
    }

    private func makeFolder() throws(BrokerClientError) {
        guard isMachines, mkdir(path.folder, 0o755) == 0 else { return try PersonalFolder.make(path.folder) }
        // The machine's broker has an account of its own and must be able to reach the file, whatever the umask is.
        guard chmod(path.folder, 0o755) == 0 else { throw failed(errno) }
    }

    /// Writes a new private file.
    func write(candidate text: String) throws(BrokerClientError) {
        try requireRight()
        try makeFolder()
        let descriptor = makePrivateFile(candidate)
        guard descriptor >= 0 else { throw failed(errno) }
        defer { close(descriptor) }
        guard writeAll(text.utf8, to: descriptor), fsync(descriptor) == 0 else { throw failed(errno) }
    }

    /// - Throws: the daemon's own message if it rejects the candidate, or finds a mistake where there was none.
    func check() throws(BrokerClientError) {
        guard let report = DaemonProgram.checkConfiguration(of: broker, candidate) else {
            throw ConfigurationReport.noDaemon
        }
        let isRead = ConfigurationReport.all(in: report.text) != nil
        // A mistake that was there before, as in a file of apps, does not keep other settings from being changed.
        if isRead, report.status == 0 || DaemonProgram.checkConfiguration(of: broker)?.status != 0 { return }
        throw ConfigurationReport.refused(report.text.replacing(text: candidate, with: path))
    }

    /// Call it while the file is locked.
    func keep() throws(BrokerClientError) {
        var before = stat()
        let isNew = stat(path, &before) != 0
        // The file stays readable for the same users, above all the machine's broker. An editor may have changed the
        // candidate's owner and mode.
        let (readers, owner, group) =
            isNew ? (isMachines ? 0o644 : 0o600, 0, 0) : (before.st_mode & 0o777, before.st_uid, before.st_gid)
        guard !isMachines || chown(candidate, owner, group) == 0, chmod(candidate, readers) == 0,
            rename(candidate, path) == 0
        else { throw failed(errno) }
    }

    func discard() { unlink(candidate) }

    /// The candidates of this file that a brokerctl left behind, or works on now.
    var candidates: [String] {
        let names = (try? FolderNames(of: path.folder))?.names ?? []
        return names.map { "\(path.folder)/\($0)" }.filter { $0.hasPrefix(path + Self.mark) }.sorted()
    }

    private func failed(_ number: Int32) -> BrokerClientError {
        BrokerClientError(.internal, "\(candidate) cannot be written: \(errnoText(number)); nothing has changed.")
    }
}
