import Glibc

/// The uids of the user namespace that this process is in (user_namespaces(7)).
enum UserNamespaceMap {
    /// - Returns: true also if the kernel does not say.
    static func has(_ uid: uid_t) -> Bool {
        let file = open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return true }
        defer { close(file) }
        // The kernel accepts 340 lines at most, and a short file is read whole.
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        let count = read(file, &buffer, buffer.count)
        guard count > 0 else { return true }
        let lines = String(decoding: buffer.prefix(count), as: UTF8.self).split(separator: "\n")
        return lines.contains { line in
            let numbers = line.split(separator: " ").compactMap { UInt64($0) }
            guard numbers.count == 3 else { return true }
            return (numbers[0]..<numbers[0] + numbers[2]).contains(UInt64(uid))
        }
    }
}
