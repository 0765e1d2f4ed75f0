import BrokerLink
import BrokerRPC
import BrokerValues
import Glibc

/// What the doctor looks at.
extension DoctorCommand {
    /// Whether this person may read what the broker reads.
    func isReadable(_ broker: TargetBroker) -> Bool {
        broker.units == .own || (broker.files ?? []).allSatisfy { access($0, R_OK) == 0 || errno == ENOENT }
    }

    /// Those of a broker that has an account of its own.
    func machineFolders(_ vault: String?) -> [CheckResult] {
        var facts = stat()
        let owner = vault.map { stat($0, &facts) == 0 ? facts.st_uid : 0 } ?? 0
        let places = ["/run/brokerd", "/etc/brokerd"] + [vault].compactMap(\.self)
        return DoctorChecks.folders(places.flatMap(FolderFacts.onTheWay), of: owner, .machine)
    }

    /// A file system that turned read-only after an error does not always say so; one that refuses is. Nothing is written.
    func isReadOnly(_ path: String) -> Bool {
        let descriptor = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor < 0 else {
            close(descriptor)
            return false
        }
        return errno == EROFS
    }

    /// Root of a broker for everybody sees whose records there are.
    func partitions(_ context: CommandContext, _ status: GetBrokerStatus.Result) -> [CheckResult] {
        guard status.partitions != nil else { return [] }
        do throws(BrokerClientError) {
            return DoctorChecks.partitions(try context.connection.call(ListPartitions.self, .init()).partitions)
        } catch {
            return [CheckResult("Users", .note, error.message)]
        }
    }

    func key(_ context: CommandContext) -> [CheckResult] {
        do throws(BrokerClientError) {
            return [DoctorChecks.key(try context.connection.call(GetKeyStatus.self, .init()))]
        } catch {
            return [CheckResult("Key", .note, error.message)]
        }
    }

    /// Nothing where there is no curl.
    func network(_ apps: [App], caFile: String?) -> [CheckResult] {
        guard let command = NetworkChecks.command(for: apps, caFile: caFile) else { return [] }
        return ChildProcess.report(of: command).map { DoctorChecks.network($0.text) } ?? []
    }

    /// As `brokerd --check-config` shows it.
    func caFile(_ report: (status: Int32, text: String)) -> String? {
        let start = "oauth.ca_file = /"
        guard let line = report.text.split(separator: "\n").first(where: { $0.hasPrefix(start) }) else { return nil }
        let path = line.dropFirst(start.count - 1)
        return String(path[..<(path.firstRange(ofText: "  # ")?.lowerBound ?? path.endIndex)])
    }

    var folders: [FolderFacts] {
        let places = [variable("HOME"), variable("XDG_RUNTIME_DIR"), (try? PersonalFolder.settings()) ?? ""]
        return places.filter { $0.hasPrefix("/") }.flatMap(FolderFacts.onTheWay)
    }

    /// Nil where there is no such file.
    func lastChange(of file: String) -> NumericDate? {
        var facts = stat()
        return stat(file, &facts) == 0 ? NumericDate(facts.st_mtim.tv_sec) : nil
    }

    /// Of an edit that did not come to its end.
    func leftOver(of broker: TargetBroker) -> [CheckResult] {
        guard let file = try? SettingsFile(of: broker).candidate, access(file, F_OK) == 0 else { return [] }
        return [
            CheckResult(
                "Settings", .note, "\(file) is left from an edit that was broken off.",
                advice: "rm \(ShellText.quoted(file))")
        ]
    }

    /// Where systemd before version 254, later ones, and a broker started by hand keep theirs.
    var vaults: [String] {
        let home = variable("HOME")
        let state = variable("XDG_STATE_HOME").isEmpty ? "\(home)/.local/state" : variable("XDG_STATE_HOME")
        let settings = variable("XDG_CONFIG_HOME").isEmpty ? "\(home)/.config" : variable("XDG_CONFIG_HOME")
        // On new systems one is a link to the other.
        return Set([state, settings].compactMap { "\($0)/brokerd/vault.db".realPath }).sorted()
    }

    /// Properties of a unit; nil where systemd has no manager for it.
    func unit(_ name: String, _ properties: String..., of units: BrokerUnits) -> String? {
        output(units.manager + ["show", "--property=\(properties.joined(separator: ","))", name])
    }

    /// What a program prints when it ends well.
    func output(_ arguments: [String]) -> String? {
        ChildProcess.report(of: arguments).flatMap { $0.status == 0 ? $0.text : nil }
    }

    func variable(_ name: String) -> String { SocketLocation.variable(name) ?? "" }
}
