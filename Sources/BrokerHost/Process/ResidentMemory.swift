import BrokerSystem
import CBrokerLinux
import Glibc

/// The memory of this process.
package enum ResidentMemory {
    /// The resident bytes, from `/proc/self/statm` (proc(5)), which every process may read.
    ///
    /// - Returns: `nil` if the kernel does not say.
    package static func bytes() -> Int? {
        guard let text = try? readFile(at: "/proc/self/statm", atMost: 128, isTrusted: false) else { return nil }
        let fields = text.split(separator: UInt8(ascii: " "))
        guard fields.count > 1, let pages = Int(String(decoding: fields[1], as: UTF8.self)) else { return nil }
        return pages * sysconf(Int32(_SC_PAGESIZE))
    }

    /// Returns recoverable memory to the kernel: free pages of the heap, and pages of the program's and its libraries' files.
    package static func release() { broker_release_memory() }
}
