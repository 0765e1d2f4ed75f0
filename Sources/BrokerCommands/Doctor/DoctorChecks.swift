import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues

/// Evaluates facts. Pure: the caller gathers them.
package enum DoctorChecks {
    /// - Parameters:
    ///   - report: the exit status and output of `brokerd --check-config`; `nil` if there is no such program.
    ///   - isRunning: whether a broker is running, which has read its configuration.
    ///   - isReadable: whether the user may read the whole configuration.
    package static func configuration(
        _ report: (status: Int32, text: String)?, isRunning: Bool, _ units: BrokerUnits = .own, isReadable: Bool = true
    ) -> CheckResult {
        guard isReadable else {
            return CheckResult(
                "Settings", .note, "Only root may read the broker's configuration, so it was not checked.")
        }
        guard let report else {
            return CheckResult(
                "Settings", .note, "brokerd is not next to brokerctl, so its configuration was not checked.")
        }
        let lines = report.text.split(separator: "\n")
        let said = lines.first { $0.hasPrefix("brokerd: ") }?.dropFirst("brokerd: ".count)
        guard report.status != 0 else {
            guard let said else { return CheckResult("Settings", .good, "The configuration is valid.") }
            return CheckResult("Settings", .note, String(said))
        }
        let mistake = String(said ?? lines.first ?? "brokerd --check-config failed.")
        let rest =
            isRunning
            ? ", then \(units.advice("reload \(units.service)"))" : "; the broker reads it when it next starts"
        return CheckResult("Settings", .bad, mistake, advice: "correct it" + rest)
    }

    /// Whether the running broker uses the current contents of its files.
    ///
    /// - Parameters:
    ///   - reading: as reported by the broker; `nil` if it does not report it.
    ///   - changedOn: the last change of a file.
    package static func reading(
        _ reading: GetBrokerStatus.Configuration?, _ units: BrokerUnits = .own, changedOn: (String) -> NumericDate?
    ) -> [CheckResult] {
        guard let reading else { return [] }
        let reload = units.advice("reload \(units.service)")
        let changed = reading.files.filter { (changedOn($0) ?? 0) > reading.readOn }.map {
            CheckResult("Settings", .note, "\($0) was changed after the broker had read it.", advice: reload)
        }
        guard !reading.pending.isEmpty else { return changed }
        let names = reading.pending.joined(separator: ", ")
        return changed + [
            CheckResult(
                "Settings", .note, "\(names) takes effect after a restart.",
                advice: units.advice("restart \(units.service)"))
        ]
    }

    /// - Parameters:
    ///   - path: the path of the broker's vault.
    ///   - others: files elsewhere that look like vaults.
    ///   - isOwner: whether the user may unlock it.
    package static func vaults(
        _ path: String, isLocked: Bool, others: [String], _ units: BrokerUnits = .own, isOwner: Bool = true
    ) -> [CheckResult] {
        let unlock = isOwner ? "brokerctl unlock" : "ask an administrator for: sudo brokerctl unlock"
        var findings = [
            isLocked
                ? CheckResult("Vault", .note, "\(path) is locked.", advice: unlock)
                : CheckResult("Vault", .good, "\(path) is open.")
        ]
        for other in others where other != path {
            guard units == .own else {
                findings.append(
                    CheckResult(
                        "Vault", .note, "Your own broker has another one, \(other), which is not used here.",
                        advice: "bring its sign-ins here with cache export and import, or move it away"))
                continue
            }
            findings.append(
                CheckResult(
                    "Vault", .note, "There is another one, \(other), which is not used.",
                    advice: "move it away, or name its folder with vault.state_dir"))
        }
        return findings
    }

    /// - Parameter isReadOnly: whether its file system refuses writes.
    package static func disk(_ path: String, isReadOnly: Bool) -> [CheckResult] {
        guard isReadOnly else { return [] }
        return [
            CheckResult(
                "Disk", .bad,
                "The file system of \(path) is read-only: "
                    + "refreshed tokens are only in memory, and lost when the broker ends.",
                advice: "find the cause with dmesg, repair the disk, then remount it: mount -o remount,rw")
        ]
    }

    /// Whether the records are the ones that the broker last wrote (docs/decisions/0007).
    package static func records(_ vault: GetBrokerStatus.Vault) -> [CheckResult] {
        let before = "once the cause is known or resolved: brokerctl cache accept-restore"
        return [
            VaultHealth.rolledBack(vault).map {
                CheckResult("Records", .bad, $0, advice: "look at brokerctl apps list and grants list; \(before)")
            },
            VaultHealth.setAside(vault).map {
                CheckResult(
                    "Records", .bad, $0, advice: "sign in, or register the app, again where it is missing; \(before)")
            },
        ].compactMap(\.self)
    }

    /// For a system broker: records whose account is gone, or that a new account with the same uid cannot use.
    package static func partitions(_ partitions: [UserPartition]) -> [CheckResult] {
        let left = partitions.filter { $0.state == "gone" || $0.state == "otherAccount" }
        guard !left.isEmpty else {
            return partitions.isEmpty ? [] : [CheckResult("Users", .good, "\(partitions.count) have records.")]
        }
        return left.map { partition in
            let account = partition.account.map { "\($0.clean)'s" } ?? "an account's"
            let why = partition.state == "gone" ? "no account has that uid" : "another account has that uid"
            return CheckResult(
                "Users", .note, "The records of uid \(partition.uid) are \(account), and \(why).",
                advice: "brokerctl partitions remove \(partition.uid)")
        }
    }

    package static func key(_ key: KeyState) -> CheckResult {
        guard key.available.contains(key.source) else {
            return CheckResult(
                "Key", .bad,
                "It comes from \(key.source.clean), which is not available: the next start will not open the vault.",
                advice: "brokerctl key set-source, while the vault is open")
        }
        if key.source == "credential", key.added == nil {
            return CheckResult(
                "Key", .note,
                "It comes from credential; one sealed for this machine does not open a copy of the vault elsewhere.",
                advice: "brokerctl key add-source passphrase, before it is needed")
        }
        let rest = key.resealing ? "; records are still being sealed with the new one" : ""
        return CheckResult("Key", .good, "It comes from \(key.source.clean)\(rest).")
    }

    /// - Parameter advice: a warning about a program, see ``ExecutableAdvice``.
    package static func apps(_ apps: [App], advice: (String) -> String?) -> [CheckResult] {
        guard !apps.isEmpty else {
            return [
                CheckResult(
                    "Apps", .note, "No app is registered.",
                    advice: "brokerctl apps add NAME --client-id ID --authority URL")
            ]
        }
        let odd = apps.flatMap { app in
            app.executables.compactMap(advice).map { CheckResult("App \(app.name.clean)", .note, $0) }
        }
        return odd.isEmpty ? [CheckResult("Apps", .good, "\(apps.count) registered.")] : odd
    }

    package static func browser(variable: String, hasDisplay: Bool, hasOpener: Bool) -> CheckResult {
        if !variable.isEmpty { return CheckResult("Browser", .good, "$BROWSER is \(variable).") }
        if hasDisplay, hasOpener { return CheckResult("Browser", .good, "xdg-open opens your default browser.") }
        let why = hasDisplay ? "There is no xdg-open" : "This session has no display"
        return CheckResult(
            "Browser", .note, "\(why), so sign-ins print the page's address.",
            advice: "brokerctl login --device-code, or set BROWSER")
    }

    /// - Parameter synchronized: systemd's report on the clock, `yes` or `no`; `nil` if it has none.
    package static func clock(_ synchronized: String?) -> CheckResult? {
        switch synchronized?.trimmed {
        case "yes": CheckResult("Clock", .good, "It is synchronized over the network.")
        case "no":
            CheckResult(
                "Clock", .note, "Not synchronized; a wrong clock makes good tokens look expired or not yet valid.",
                advice: "timedatectl set-ntp true")
        default: nil
        }
    }
}
