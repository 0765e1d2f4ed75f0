import Glibc
import Synchronization

/// The group of a set-group-id program. A broker may require it as proof that the program connected (`admin.proof`);
/// everything else the program does, and starts, runs with its user's groups alone.
package enum ProgramGroup {
    private static let hidden = Mutex<gid_t?>(nil)

    /// Must be called first: no process that the program starts may have the group.
    package static func hide() {
        let group = getegid()
        guard group != getgid() else { return }
        hidden.withLock { $0 = group }
        // The saved group remains and allows switching back.
        guard setegid(getgid()) == 0 else { exit(1) }
    }

    /// Does the work with the group. Not concurrent.
    static func shown<Value>(_ work: () -> Value) -> Value {
        hidden.withLock { group in
            guard let group, setegid(group) == 0 else { return work() }
            defer { if setegid(getgid()) != 0 { exit(1) } }
            return work()
        }
    }
}
