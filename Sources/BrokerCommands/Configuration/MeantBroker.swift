import BrokerLink
import BrokerRPC
import BrokerSystem
import BrokerValues
import Glibc

/// The broker that a command is about: how it runs, and what it reads. It says so itself; one that does not answer is taken for what is
/// installed.
package struct MeantBroker {
    package let mode: GetBrokerStatus.Mode
    /// What it reads, strongest first; nil where nobody says.
    package let files: [String]?
    /// Whether it is a broker of systemd's: nobody named another socket.
    let isUsual: Bool

    package init(_ status: GetBrokerStatus.Result?, at location: SocketLocation) {
        mode = status?.mode ?? (location.isEverybodys ? .system : .user)
        files = status?.configuration?.files
        isUsual = location.isUsual
    }

    /// - Throws: where the command names another socket than the usual ones, and nobody answers there: then nobody knows.
    static func ask(_ context: CommandContext) throws(BrokerClientError) -> MeantBroker {
        let location = context.connection.location
        // Not for long: a broker that hangs is one whose settings are looked at.
        let asking = DirectConnection(location: location, patience: .zero, answerTimeout: .seconds(3))
        do throws(BrokerClientError) {
            return MeantBroker(try asking.call(GetBrokerStatus.self, .init()), at: location)
        } catch {
            guard location.isUsual else { throw error }
            return MeantBroker(nil, at: location)
        }
    }

    package var units: BrokerUnits { mode == .system ? .machine : .own }

    /// The file that settings are written to.
    func ownFile() throws(BrokerClientError) -> String {
        if let file = files?.first { return file }
        return mode == .system ? Self.machineFile : try PersonalFolder.settings() + "/config.toml"
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
    private static let ownEnd = "/brokerd/config.toml"
}
