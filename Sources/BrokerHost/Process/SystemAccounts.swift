import BrokerModel
import BrokerSystem
import Glibc

/// The accounts known to the C library, from the sources in nsswitch.conf(5). Each lookup has a thread of its own: one that waits
/// for an unresponsive directory must not delay others.
package struct SystemAccounts: AccountNames {
    package init() {}

    package func name(of uid: UInt32) async throws(AccountNamesUnavailable) -> String? {
        let answer = Promise<Result<String?, AccountNamesUnavailable>>()
        let status = DetachedThread.start {
            answer.fulfil(Result { () throws(AccountNamesUnavailable) in try Self.lookUp(uid) })
        }
        guard status == 0 else { throw AccountNamesUnavailable(code: status) }
        return try await answer.value.get()
    }

    private static func lookUp(_ uid: UInt32) throws(AccountNamesUnavailable) -> String? {
        var size = 1 << 10
        while true {
            var entry = passwd()
            var found: UnsafeMutablePointer<passwd>?
            var buffer = [CChar](repeating: 0, count: size)
            var name: String?
            let code = buffer.withUnsafeMutableBufferPointer { buffer in
                guard let base = buffer.baseAddress else { return ENOMEM }
                let code = getpwuid_r(uid, &entry, base, buffer.count, &found)
                if code == 0, found != nil, let text = entry.pw_name { name = String(cString: text) }
                return code
            }
            switch code {
            // Some sources report a missing account as an error (getpwuid_r(3)).
            case 0, ENOENT, ESRCH, EBADF, EPERM: return name
            case EINTR: continue
            case ERANGE where size < 1 << 20: size *= 2
            default: throw AccountNamesUnavailable(code: code)
            }
        }
    }

    /// - Returns: the group's gid; `nil` if there is no such group, or the lookup failed.
    package static func group(named name: String) -> UInt32? {
        var buffer = [CChar](repeating: 0, count: 64 << 10)
        return buffer.withUnsafeMutableBufferPointer { buffer in
            var entry = Glibc.group()
            var found: UnsafeMutablePointer<Glibc.group>?
            guard let base = buffer.baseAddress, getgrnam_r(name, &entry, base, buffer.count, &found) == 0,
                found != nil
            else { return nil }
            return entry.gr_gid
        }
    }
}
