import BrokerLink
import BrokerRPC
import BrokerValues
import Glibc

/// The facts that the doctor checks.
extension DoctorCommand {
    /// Whether the user may read the broker's configuration.
    func isReadable(_ broker: TargetBroker) -> Bool {
        broker.units == .own || (broker.files ?? []).allSatisfy { access($0, R_OK) == 0 || errno == ENOENT }
    }

    /// The folders of a broker that has an account of its own.
    func machineFolders(_ vault: String?) -> [CheckResult] {
        var facts = stat()
        let owner = vault.map { stat($0, &facts) == 0 ? facts.st_uid : 0 } ?? 0
        let places = ["/run/brokerd", "/etc/brokerd"] + [vault].compactMap(\.self)
        return DoctorChecks.folders(places.flatMap(FolderFacts.onTheWay), of: owner, .machine)
    }

    /// Opens a file for writing, and writes nothing: a file system that became read-only after an error may not report
    /// that otherwise.
    func isReadOnly(_ path: String) -> Bool {
        let descriptor = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor < 0 else {
            close(descriptor)
            return false
        }
        return errno == EROFS
    }

    /// For root of a system broker: the users who have records.
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

    /// The apps and their providers.
    func apps(_ context: CommandContext, _ broker: TargetBroker, caFile: String?) -> [CheckResult] {
        do throws(BrokerClientError) {
            let apps = try context.connection.call(ListApps.self, .init()).apps
            let advice = broker.units == .machine ? { _ in ExecutableAdvice.system } : ExecutableAdvice.on
            return DoctorChecks.apps(apps, advice: advice) + network(apps, caFile: caFile)
        } catch {
            // A broker that is locked, or refuses this caller, works as intended.
            let isIntended = [.accessDenied, .locked].contains(error.code)
            return [CheckResult("Apps", isIntended ? .note : .bad, error.message)]
        }
    }

    /// Empty if there is no curl.
    private func network(_ apps: [App], caFile: String?) -> [CheckResult] {
        guard let command = NetworkChecks.command(for: apps, caFile: caFile) else { return [] }
        return ChildProcess.report(of: command).map { DoctorChecks.network($0.text) } ?? []
    }

    var folders: [FolderFacts] {
        let places = [variable("HOME"), variable("XDG_RUNTIME_DIR"), (try? PersonalFolder.settings()) ?? ""]
        return places.filter { $0.hasPrefix("/") }.flatMap(FolderFacts.onTheWay)
    }

    /// `nil` if there is no such file.
    func lastChange(of file: String) -> NumericDate? {
        var facts = stat()
        return stat(file, &facts) == 0 ? NumericDate(facts.st_mtim.tv_sec) : nil
    }

    /// Reports the files of unfinished edits.
    func leftOver(of broker: TargetBroker) -> [CheckResult] {
        ((try? SettingsFile(of: broker).candidates) ?? []).map {
            CheckResult(
                "Settings", .note, "\($0) belongs to an edit that is still open or was interrupted.",
                advice: "if no editor has it open: rm \(ShellText.quoted($0))")
        }
    }

    /// The vaults of systemd before version 254, of later versions, and of a broker started by hand.
    var vaults: [String] {
        let home = variable("HOME")
        let state = variable("XDG_STATE_HOME").isEmpty ? "\(home)/.local/state" : variable("XDG_STATE_HOME")
        let settings = variable("XDG_CONFIG_HOME").isEmpty ? "\(home)/.config" : variable("XDG_CONFIG_HOME")
        // On new systems, one is a link to the other.
        return Set([state, settings].compactMap { "\($0)/brokerd/vault.db".realPath }).sorted()
    }

    /// Properties of a unit; `nil` if no systemd manager runs.
    func unit(_ name: String, _ properties: String..., of units: BrokerUnits) -> String? {
        output(units.manager + ["show", "--property=\(properties.joined(separator: ","))", name])
    }

    /// The output of a program if it exits with 0.
    func output(_ arguments: [String]) -> String? {
        ChildProcess.report(of: arguments).flatMap { $0.status == 0 ? $0.text : nil }
    }

    func variable(_ name: String) -> String { SocketLocation.variable(name) ?? "" }
}
