import BrokerSystem
import Glibc

/// The uids of the user namespace that this process is in (user_namespaces(7)).
enum UserNamespaceMap {
    /// - Returns: true also if the kernel does not say.
    static func has(_ uid: uid_t) -> Bool {
        // The kernel accepts 340 lines at most.
        guard let map = try? readFile(at: "/proc/self/uid_map", atMost: 16 << 10, isTrusted: false), !map.isEmpty
        else { return true }
        let lines = String(decoding: map, as: UTF8.self).split(separator: "\n")
        return lines.contains { line in
            let numbers = line.split(separator: " ").compactMap { UInt64($0) }
            guard numbers.count == 3 else { return true }
            return (numbers[0]..<numbers[0] + numbers[2]).contains(UInt64(uid))
        }
    }
}
