import BrokerLink
import BrokerRPC
import BrokerValues
import Glibc

struct DoctorCommand: Subcommand {
    static var about: About {
        About(
            "doctor", "Find problems and say how to fix them.",
            """
            Checks the broker, its systemd units, its configuration, folders, key, vaults, apps, their providers, the \
            browser and the clock, and changes nothing. The exit status is 1 if a check fails.

            Examples:
              brokerctl doctor
            """)
    }

    var global = GlobalOptions()

    var answerTimeout: Duration? { .seconds(5) }

    func run(in context: CommandContext) throws(BrokerClientError) {
        context.output.passing("Checking; providers may take a moment.")
        let findings = look(context)
        context.output.passing(nil)
        context.output.result(CheckResultsText.json(findings)) {
            CheckResultsText.text(findings, in: context.output.layout)
        }
        guard !findings.contains(where: { $0.verdict == .bad }) else {
            throw BrokerClientError(.reported, "Something is wrong.")
        }
    }

    private func look(_ context: CommandContext) -> [CheckResult] {
        let location = context.connection.location
        let asked = Result { () throws(BrokerClientError) in
            try context.connection.call(GetBrokerStatus.self, .init())
        }
        let broker = TargetBroker(try? asked.get(), at: location)
        let configuration = DaemonProgram.checkConfiguration(of: broker)
        let settings = configuration.flatMap { ConfigurationReport.all(in: $0.text) } ?? []
        let caFile = settings.first { $0.name == "oauth.ca_file" && $0.isSet }?.value
        var findings = self.broker(context, asked, broker, caFile: broker.isUsual ? caFile : nil)
        // A broker with a different socket is not run by systemd.
        if broker.isUsual {
            let isRunning = findings.first?.verdict == .good
            let units = broker.units
            findings += [
                DoctorChecks.socketUnit(
                    unit(units.socket, "LoadState", "ActiveState", "UnitFileState", of: units), units),
                DoctorChecks.sessionUnit(
                    unit("brokerd-session.service", "LoadState", "NoNewPrivileges", of: .own),
                    isGroupProof: settings.contains { $0.name == "admin.proof" && $0.value == "setgid" }),
                DoctorChecks.configuration(
                    configuration, isRunning: isRunning, units, isReadable: isReadable(broker)),
            ].compactMap(\.self)
            findings += leftOver(of: broker)
            let vault = (try? asked.get())?.vault.path.folder
            findings += units == .machine ? machineFolders(vault) : DoctorChecks.folders(folders, of: geteuid())
        }
        findings.append(
            DoctorChecks.browser(
                variable: variable("BROWSER"),
                hasDisplay: !variable("DISPLAY").isEmpty || !variable("WAYLAND_DISPLAY").isEmpty,
                hasOpener: output(["xdg-open", "--version"]) != nil))
        if let git = DoctorChecks.git(output(["git", "config", "--get-regexp", #"^credential\.(.*\.)?helper$"#])) {
            findings.append(git)
        }
        if let clock = DoctorChecks.clock(output(["timedatectl", "show", "--property=NTPSynchronized", "--value"])) {
            findings.append(clock)
        }
        return findings
    }

    /// The findings from the broker itself; one finding if it does not answer.
    private func broker(
        _ context: CommandContext, _ asked: Result<GetBrokerStatus.Result, BrokerClientError>, _ broker: TargetBroker,
        caFile: String?
    ) -> [CheckResult] {
        do throws(BrokerClientError) {
            let status = try asked.get()
            let path = context.connection.location.path
            // Only root manages the keys of a system broker.
            let isOwner = status.mode == .user || geteuid() == 0
            return [CheckResult("Broker", .good, "Version \(status.version) answers at \(path).")]
                + BrokerChoice.findings(status, at: context.connection.location)
                + DoctorChecks.vaults(
                    status.vault.path.realPath ?? status.vault.path, isLocked: status.locked, others: vaults,
                    broker.units, isOwner: isOwner)
                + DoctorChecks.disk(status.vault.path, isReadOnly: isReadOnly(status.vault.path))
                + DoctorChecks.records(status.vault)
                + DoctorChecks.reading(status.configuration, broker.units, changedOn: lastChange)
                + partitions(context, status) + (isOwner ? key(context) : [])
                + [
                    DoctorChecks.agentDoor(
                        status.doors, broker.units, variable: variable("OIDC_SOCK"),
                        trouble: DoorProbe.trouble(atAgentSocket:))
                ].compactMap(\.self)
                + apps(context, broker, caFile: caFile)
        } catch {
            return [CheckResult("Broker", .bad, error.message)]
        }
    }
}
