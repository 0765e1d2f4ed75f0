import Glibc
import Synchronization

/// The group of a set-group-id program. A broker may ask for it as a proof that the program connected (`admin.proof`); whatever
/// else the program does, and starts, it does as its user alone.
package enum ProgramGroup {
    private static let hidden = Mutex<gid_t?>(nil)

    /// To be called first: nothing that the program starts may have the group.
    package static func hide() {
        let group = getegid()
        guard group != getgid() else { return }
        hidden.withLock { $0 = group }
        // The saved group stays, and lets it be shown again.
        guard setegid(getgid()) == 0 else { exit(1) }
    }

    /// Does the work with the group. One at a time.
    static func shown<Value>(_ work: () -> Value) -> Value {
        hidden.withLock { group in
            guard let group, setegid(group) == 0 else { return work() }
            defer { if setegid(getgid()) != 0 { exit(1) } }
            return work()
        }
    }
}
