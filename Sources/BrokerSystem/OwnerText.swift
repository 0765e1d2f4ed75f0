import Glibc

/// An owner of files, for people: `root (uid 0)`, or the number alone if the system has no name for it.
package func ownerText(_ uid: uid_t) -> String {
    UserPrivateGroup.account(of: uid).map { "\($0.name) (uid \(uid))" } ?? "uid \(uid)"
}
