import BrokerLink
import BrokerRPC
import BrokerSystem
import BrokerValues
import Glibc

/// The broker that a command is about: how it runs and which files it reads, by its own account. One that does not answer is assumed
/// to be the installed one.
package struct TargetBroker {
    package let mode: GetBrokerStatus.Mode
    /// The files that it reads, strongest first; `nil` if unknown.
    package let files: [String]?
    /// Whether systemd runs it, that is, no other socket was named.
    let isUsual: Bool
    /// Whether the user has exactly the rights of the broker, which then gains nothing by lying.
    private let isOwn: Bool

    package init(_ status: GetBrokerStatus.Result?, at location: SocketLocation) {
        mode = status?.mode ?? (location.isEverybodys ? .system : .user)
        files = status?.configuration?.files
        isUsual = location.isUsual
        var facts = stat()
        // A machine's broker has an account of its own, behind a socket owned by root.
        isOwn = geteuid() != 0 && (stat(location.path, &facts) != 0 || facts.st_uid == geteuid())
    }

    /// - Throws: if the command names a socket other than the usual ones and gets no answer there: then nothing is known.
    static func ask(_ context: CommandContext) throws(BrokerClientError) -> TargetBroker {
        let location = context.connection.location
        // A short timeout: people also look at settings when a broker hangs.
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

    /// Whether to write a file only because the broker says that it reads it. The broker's account may have fewer
    /// rights than the user; a file is trusted if root's systemd unit names it, or if every broker reads it.
    func isBelieved(_ file: String) -> Bool {
        if isOwn || file == Self.machineFile { return true }
        if let own = try? PersonalFolder.settings(), file == own + Self.fileName { return true }
        let report = ChildProcess.report(of: units.manager + ["show", "--property=ExecStart", units.service])
        return report.map { Self.isNamed(file, by: $0.text) } == true
    }

    /// - Parameter unit: the start commands from `systemctl show`.
    package static func isNamed(_ file: String, by unit: String) -> Bool {
        !file.contains(" ") && (unit.holds(" --config \(file) ") || unit.holds(" --config=\(file) "))
    }

    /// The command line with which brokerd reads the same files as this broker.
    ///
    /// - Parameter candidate: a file to read instead.
    package func check(with program: String, _ candidate: String? = nil) -> [String] {
        var (variables, flags): ([String], [String]) = ([], [])
        if mode == .system { (variables, flags) = (["--unset=BROKER_SOCKET"], ["--system"]) }
        if let candidate {
            flags += ["--config", candidate]
        } else if let files, let first = files.first {
            if files.count > 1, first.hasSuffix(Self.ownEnd) {
                // Its service manager may have other variables than this shell.
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
