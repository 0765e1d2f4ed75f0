import BrokerLink
import BrokerSystem
import Glibc

/// The owner and mode of a folder on the path to the user's own folders.
package struct FolderFacts: Sendable {
    package var path: String
    package var owner: uid_t
    package var mode: mode_t
    /// Whether its group is the user's private group.
    package var hasPrivateGroup: Bool

    package init(path: String, owner: uid_t, mode: mode_t, hasPrivateGroup: Bool) {
        self.path = path
        self.owner = owner
        self.mode = mode
        self.hasPrivateGroup = hasPrivateGroup
    }

    /// From the root down, without those that cannot be examined.
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
    /// A user who may rename files in a folder can replace the broker's files there, however those are protected.
    ///
    /// - Parameters:
    ///   - folders: the home, runtime and configuration folders, and all above them.
    ///   - user: their owner.
    package static func folders(
        _ folders: [FolderFacts], of user: uid_t, _ units: BrokerUnits = .own
    ) -> [CheckResult] {
        var seen: Set<String> = []
        let open = folders.filter { seen.insert($0.path).inserted }.compactMap { folder -> CheckResult? in
            if folder.owner != user, folder.owner != 0 {
                return CheckResult(
                    "Folders", .bad, "\(folder.path) belongs to another user, who can replace its contents.",
                    advice: "make root its owner: chown root \(ShellText.quoted(folder.path))")
            }
            let isWritable = folder.mode & S_IWOTH != 0 || folder.mode & S_IWGRP != 0 && !folder.hasPrivateGroup
            guard isWritable, folder.mode & S_ISVTX == 0 else { return nil }
            return CheckResult(
                "Folders", .bad, "Others may write to \(folder.path), and replace its contents.",
                advice: "chmod go-w \(ShellText.quoted(folder.path))")
        }
        let good =
            units == .own
            ? "Nobody else can replace your files for the broker." : "Only root and the broker can replace its files."
        return open.isEmpty ? [CheckResult("Folders", .good, good)] : open
    }
}
