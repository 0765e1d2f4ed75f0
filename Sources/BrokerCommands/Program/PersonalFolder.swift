import BrokerLink
import BrokerSystem
import Glibc

/// A folder below a person's home that brokerctl keeps something in.
enum PersonalFolder {
    /// Makes it, and those above it.
    ///
    /// - Throws: where root would write into somebody else's home (`sudo -E`, `su -m`): that person's broker refuses root's files.
    static func make(_ path: String) throws(BrokerClientError) {
        if geteuid() == 0, let owner = ownerOfNearest(path), owner != 0 {
            throw BrokerClientError(
                .invalidParameter,
                "\(path) belongs to uid \(owner), and you are root; run this as that user, or with root's own home (sudo -H)."
            )
        }
        guard makeFolders(path) else {
            throw BrokerClientError(.internal, "\(path) cannot be made: \(errnoText(errno)).")
        }
    }

    /// - Returns: whose the folder is, or the nearest above it that is there.
    private static func ownerOfNearest(_ path: String) -> uid_t? {
        var facts = stat()
        var place = path
        while stat(place.isEmpty ? "/" : place, &facts) != 0 {
            guard errno == ENOENT, !place.isEmpty else { return nil }
            place = place.folder
        }
        return facts.st_uid
    }
}
