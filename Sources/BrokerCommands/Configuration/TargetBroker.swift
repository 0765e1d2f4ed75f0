import BrokerLink
import BrokerRPC
import BrokerSystem
import BrokerValues
import Glibc

/// The broker that a command is about: how it runs, and what it reads. It says so itself; one that does not answer is taken for what is
/// installed.
package struct TargetBroker {
    package let mode: GetBrokerStatus.Mode
    /// What it reads, strongest first; nil where nobody says.
    package let files: [String]?
    /// Whether it is a broker of systemd's: nobody named another socket.
    let isUsual: Bool
    /// Whether who asks has the rights of the broker, and no more: its word gains it nothing then.
    private let isOwn: Bool

    package init(_ status: GetBrokerStatus.Result?, at location: SocketLocation) {
        mode = status?.mode ?? (location.isEverybodys ? .system : .user)
        files = status?.configuration?.files
        isUsual = location.isUsual
        var facts = stat()
        // A machine's broker has an account of its own, behind a socket of root's.
        isOwn = geteuid() != 0 && (stat(location.path, &facts) != 0 || facts.st_uid == geteuid())
    }

    /// - Throws: where the command names another socket than the usual ones, and nobody answers there: then nobody knows.
    static func ask(_ context: CommandContext) throws(BrokerClientError) -> TargetBroker {
        let location = context.connection.location
        // Not for long: a broker that hangs is one whose settings are looked at.
        let asking = DirectConnection(location: location, patience: .zero, answerTimeout: .seconds(3))
        do throws(BrokerClientError) {
            return TargetBroker(try asking.call(GetBrokerStatus.self, .init()), at: location)
        } catch {
            guard location.isUsual else { throw error }
            return TargetBroker(nil, at: location)
        }
    }

    package var units: BrokerUnits { mode == .system ? .machine : .own }

    /// The file that settings are written to.
    func ownFile() throws(BrokerClientError) -> String {
        if let file = files?.first { return file }
        return mode == .system ? Self.machineFile : try PersonalFolder.settings() + Self.fileName
    }

    /// Whether the person may have a file written because the broker says that it reads it. It may be an account's that can do less than
    /// they can: root's word is where systemd is told of the file, or where every broker looks.
    func isBelieved(_ file: String) -> Bool {
        if isOwn || file == Self.machineFile { return true }
        if let own = try? PersonalFolder.settings(), file == own + Self.fileName { return true }
        let told = ChildProcess.report(of: units.manager + ["show", "--property=ExecStart", units.service])
        return told.map { Self.isNamed(file, by: $0.text) } == true
    }

    /// - Parameter unit: as `systemctl show` has the commands that it starts.
    package static func isNamed(_ file: String, by unit: String) -> Bool {
        !file.contains(" ") && (unit.holds(" --config \(file) ") || unit.holds(" --config=\(file) "))
    }

    /// The command line that has brokerd read what this broker reads.
    ///
    /// - Parameter candidate: a file that is read instead.
    package func check(with program: String, _ candidate: String? = nil) -> [String] {
        var (variables, flags): ([String], [String]) = ([], [])
        if mode == .system { (variables, flags) = (["--unset=BROKER_SOCKET"], ["--system"]) }
        if let candidate {
            flags += ["--config", candidate]
        } else if let files, let first = files.first {
            if files.count > 1, first.hasSuffix(Self.ownEnd) {
                // Its manager may have other variables than this shell.
                variables.append("XDG_CONFIG_HOME=" + first.dropLast(Self.ownEnd.count))
            } else if mode == .user || first != Self.machineFile {
                flags += ["--config", first]
            }
        }
        return (variables.isEmpty ? [] : ["env"] + variables) + [program, "--check-config"] + flags
    }

    private static let machineFile = "/etc/brokerd/config.toml"
    private static let fileName = "/config.toml"
    private static let ownEnd = "/brokerd/config.toml"
}
