import BrokerModel
import BrokerSystem
import Glibc

/// Explains why the broker can neither read nor write a path, and what helps.
enum Ownership {
    /// - Returns: nil if the path belongs to the broker's user, or cannot be examined.
    static func objection(to path: String) -> VaultError? {
        var facts = stat()
        guard lstat(path, &facts) == 0, facts.st_uid != geteuid() else { return nil }
        return .notPrivate(objection(to: path, of: facts.st_uid))
    }

    static func objection(to path: String, of owner: uid_t) -> String {
        "\(path) belongs to \(ownerText(owner)), not to \(ownerText(geteuid())), who the broker runs as. Find out who put it "
            + "there; if it is yours, run as root: chown \(geteuid()) \(path)"
    }
}
