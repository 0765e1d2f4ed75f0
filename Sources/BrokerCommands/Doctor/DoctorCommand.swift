import BrokerLink
import BrokerRPC
import BrokerValues
import Glibc

struct DoctorCommand: Subcommand {
    static var about: About {
        About(
            "doctor", "Look for what is wrong, and say what to do.",
            """
            Looks at the broker, its systemd units, its configuration, folders, key, vaults, apps, their providers, the browser and the clock, \
            and changes nothing. \
            Exit status 1 when something is bad.

            Examples:
              brokerctl doctor
            """)
    }

    var global = GlobalOptions()

    var answerTimeout: Duration? { .seconds(5) }

    func run(in context: CommandContext) throws(BrokerClientError) {
        context.output.passing("Looking; providers may take a moment.")
        let findings = look(context)
        context.output.passing(nil)
        context.output.result(FindingsText.json(findings)) { FindingsText.text(findings, in: context.output.layout) }
        guard !findings.contains(where: { $0.verdict == .bad }) else {
            throw BrokerClientError(.reported, "Something is wrong.")
        }
    }

    private func look(_ context: CommandContext) -> [Finding] {
        let configuration = DaemonProgram.checkConfiguration()
        var findings = broker(context, caFile: global.socket == nil ? configuration.flatMap(caFile) : nil)
        // With a socket of its own the broker is none of systemd's.
        if global.socket == nil {
            // Where the machine's broker serves, a person's own is off.
            if !context.connection.location.isEverybodys {
                findings.append(
                    Examination.socketUnit(unit("brokerd.socket", "LoadState", "ActiveState", "UnitFileState")))
            }
            findings += [
                Examination.sessionUnit(
                    unit("brokerd-session.service", "LoadState", "NoNewPrivileges"),
                    isGroupProof: configuration?.text.contains("\nadmin.proof = setgid ") == true)
            ].compactMap(\.self)
            let isRunning = findings.first?.verdict == .good
            findings.append(Examination.configuration(configuration, isRunning: isRunning))
            findings += leftOver
            findings += Examination.folders(folders, of: geteuid())
        }
        findings.append(
            Examination.browser(
                variable: variable("BROWSER"),
                hasDisplay: !variable("DISPLAY").isEmpty || !variable("WAYLAND_DISPLAY").isEmpty,
                hasOpener: output(["xdg-open", "--version"]) != nil))
        if let git = Examination.git(output(["git", "config", "--get-regexp", #"^credential\.(.*\.)?helper$"#])) {
            findings.append(git)
        }
        if let clock = Examination.clock(output(["timedatectl", "show", "--property=NTPSynchronized", "--value"])) {
            findings.append(clock)
        }
        return findings
    }

    /// What the broker itself has to say; one finding when it does not answer.
    private func broker(_ context: CommandContext, caFile: String?) -> [Finding] {
        do throws(BrokerClientError) {
            let status = try context.connection.call(GetBrokerStatus.self, .init())
            let apps = try context.connection.call(ListApps.self, .init()).apps
            let path = context.connection.location.path
            return [Finding("Broker", .good, "Version \(status.version) answers at \(path).")]
                + BrokerChoice.findings(status, at: context.connection.location)
                + Examination.vaults(
                    status.vault.path.realPath ?? status.vault.path, isLocked: status.locked, others: vaults)
                + Examination.disk(status.vault.path, isReadOnly: isReadOnly(status.vault.path))
                + Examination.records(status.vault)
                + Examination.reading(status.configuration, changedOn: lastChange)
                + partitions(context, status) + key(context)
                + [
                    Examination.agentDoor(
                        status.doors, variable: variable("OIDC_SOCK"), trouble: DoorProbe.trouble(atAgentSocket:))
                ].compactMap(\.self)
                + Examination.apps(apps, advice: ExecutableAdvice.on) + network(apps, caFile: caFile)
        } catch {
            return [Finding("Broker", .bad, error.message)]
        }
    }

    /// A file system that turned read-only after an error does not always say so; one that refuses is. Nothing is written.
    private func isReadOnly(_ path: String) -> Bool {
        let descriptor = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor < 0 else {
            close(descriptor)
            return false
        }
        return errno == EROFS
    }

    /// Root of a broker for everybody sees whose records there are.
    private func partitions(_ context: CommandContext, _ status: GetBrokerStatus.Result) -> [Finding] {
        guard status.partitions != nil else { return [] }
        do throws(BrokerClientError) {
            return Examination.partitions(try context.connection.call(ListPartitions.self, .init()).partitions)
        } catch {
            return [Finding("Users", .note, error.message)]
        }
    }

    private func key(_ context: CommandContext) -> [Finding] {
        do throws(BrokerClientError) {
            return [Examination.key(try context.connection.call(GetKeyStatus.self, .init()))]
        } catch {
            return [Finding("Key", .note, error.message)]
        }
    }

    /// Nothing where there is no curl.
    private func network(_ apps: [App], caFile: String?) -> [Finding] {
        guard let command = NetworkExamination.command(for: apps, caFile: caFile) else { return [] }
        return ChildProcess.report(of: command).map { Examination.network($0.text) } ?? []
    }

    /// As `brokerd --check-config` shows it.
    private func caFile(_ report: (status: Int32, text: String)) -> String? {
        let start = "oauth.ca_file = /"
        guard let line = report.text.split(separator: "\n").first(where: { $0.hasPrefix(start) }) else { return nil }
        let path = line.dropFirst(start.count - 1)
        return String(path[..<(path.firstRange(ofText: "  # ")?.lowerBound ?? path.endIndex)])
    }

    private var folders: [FolderFacts] {
        let places = [variable("HOME"), variable("XDG_RUNTIME_DIR"), (try? OwnConfiguration.folder()) ?? ""]
        return places.filter { $0.hasPrefix("/") }.flatMap(FolderFacts.onTheWay)
    }

    /// Nil where there is no such file.
    private func lastChange(of file: String) -> NumericDate? {
        var facts = stat()
        return stat(file, &facts) == 0 ? NumericDate(facts.st_mtim.tv_sec) : nil
    }

    /// Of an edit that did not come to its end.
    private var leftOver: [Finding] {
        guard let file = try? OwnConfiguration().candidate, access(file, F_OK) == 0 else { return [] }
        return [
            Finding(
                "Settings", .note, "\(file) is left from an edit that was broken off.",
                advice: "rm \(ShellText.quoted(file))")
        ]
    }

    /// Where systemd before version 254, later ones, and a broker started by hand keep theirs.
    private var vaults: [String] {
        let home = variable("HOME")
        let state = variable("XDG_STATE_HOME").isEmpty ? "\(home)/.local/state" : variable("XDG_STATE_HOME")
        let settings = variable("XDG_CONFIG_HOME").isEmpty ? "\(home)/.config" : variable("XDG_CONFIG_HOME")
        // On new systems one is a link to the other.
        return Set([state, settings].compactMap { "\($0)/brokerd/vault.db".realPath }).sorted()
    }

    /// Properties of a unit of this person's; nil where systemd has no manager for them.
    private func unit(_ name: String, _ properties: String...) -> String? {
        output(["systemctl", "--user", "show", "--property=\(properties.joined(separator: ","))", name])
    }

    /// What a program prints when it ends well.
    private func output(_ arguments: [String]) -> String? {
        ChildProcess.report(of: arguments).flatMap { $0.status == 0 ? $0.text : nil }
    }

    private func variable(_ name: String) -> String { SocketLocation.variable(name) ?? "" }
}
