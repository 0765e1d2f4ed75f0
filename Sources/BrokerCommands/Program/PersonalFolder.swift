import BrokerLink
import BrokerSystem
import Glibc

/// A folder below the user's home for files of brokerctl.
enum PersonalFolder {
    /// The folder of the user's broker settings.
    static func settings() throws(BrokerClientError) -> String {
        func variable(_ name: String) -> String { SocketLocation.variable(name) ?? "" }
        // A relative path must be ignored (XDG Base Directory Specification).
        let home = variable("XDG_CONFIG_HOME")
        guard home.hasPrefix("/") || variable("HOME").hasPrefix("/") else {
            throw BrokerClientError(.invalidParameter, "There is no home directory for a configuration; set HOME.")
        }
        return (home.hasPrefix("/") ? home : variable("HOME") + "/.config") + "/brokerd"
    }

    /// Creates it and its parents.
    ///
    /// - Throws: if root would write into another user's home (`sudo -E`, `su -m`): that user's broker refuses root's files.
    static func make(_ path: String) throws(BrokerClientError) {
        if let owner = otherOwner(of: path) {
            throw BrokerClientError(
                .invalidParameter,
                "\(path) belongs to uid \(owner), and you are root; run this as that user, or with root's own home (sudo -H)."
            )
        }
        guard makeFolders(path) else {
            throw BrokerClientError(.internal, "\(path) cannot be made: \(errnoText(errno)).")
        }
    }
}
