import BrokerLink
import BrokerSystem
import Glibc

/// A folder on the way to the person's own, as the kernel describes it.
package struct FolderFacts: Sendable {
    package var path: String
    package var owner: uid_t
    package var mode: mode_t
    /// Whether the group that has it is the person's own.
    package var hasPrivateGroup: Bool

    package init(path: String, owner: uid_t, mode: mode_t, hasPrivateGroup: Bool) {
        self.path = path
        self.owner = owner
        self.mode = mode
        self.hasPrivateGroup = hasPrivateGroup
    }

    /// From the root down; those that cannot be looked at are left out.
    static func onTheWay(to path: String) -> [FolderFacts] {
        var place = ""
        return (["/"] + path.split(separator: "/").map { "/" + $0 }).compactMap { part in
            if part != "/" { place += part }
            var facts = stat()
            guard stat(place.isEmpty ? "/" : place, &facts) == 0 else { return nil }
            return FolderFacts(
                path: place.isEmpty ? "/" : place, owner: facts.st_uid, mode: facts.st_mode,
                hasPrivateGroup: UserPrivateGroup.isOwn(facts.st_gid))
        }
    }
}

extension DoctorChecks {
    /// Whoever may rename what is in a folder may put other files in the place of the broker's, however those are protected.
    ///
    /// - Parameters:
    ///   - folders: home, runtime and configuration, and all above them.
    ///   - user: whose they are.
    package static func folders(
        _ folders: [FolderFacts], of user: uid_t, _ units: BrokerUnits = .own
    ) -> [CheckResult] {
        var seen: Set<String> = []
        let open = folders.filter { seen.insert($0.path).inserted }.compactMap { folder -> CheckResult? in
            if folder.owner != user, folder.owner != 0 {
                return CheckResult(
                    "Folders", .bad, "\(folder.path) belongs to another user, who can exchange what is in it.",
                    advice: "have root own it: chown root \(ShellText.quoted(folder.path))")
            }
            let isWritable = folder.mode & S_IWOTH != 0 || folder.mode & S_IWGRP != 0 && !folder.hasPrivateGroup
            guard isWritable, folder.mode & S_ISVTX == 0 else { return nil }
            return CheckResult(
                "Folders", .bad, "Others may write to \(folder.path), and exchange what is in it.",
                advice: "chmod go-w \(ShellText.quoted(folder.path))")
        }
        let good =
            units == .own
            ? "Nobody else can exchange your files for the broker." : "Only root and the broker can exchange its files."
        return open.isEmpty ? [CheckResult("Folders", .good, good)] : open
    }
}
