import CBrokerLinux
import Glibc

/// The memory of this process.
package enum ResidentMemory {
    /// The resident bytes, from `/proc/self/statm` (proc(5)), which every process may read.
    ///
    /// - Returns: `nil` if the kernel does not say.
    package static func bytes() -> Int? {
        guard let file = fopen("/proc/self/statm", "re") else { return nil }
        defer { fclose(file) }
        var text = [CChar](repeating: 0, count: 128)
        guard fgets(&text, Int32(text.count), file) != nil else { return nil }
        let fields = text.prefix { $0 != 0 }.split(separator: CChar(UInt8(ascii: " ")))
        guard fields.count > 1,
            let pages = Int(String(decoding: fields[1].map { UInt8(bitPattern: $0) }, as: UTF8.self))
        else { return nil }
        return pages * sysconf(Int32(_SC_PAGESIZE))
    }

    /// Returns recoverable memory to the kernel: free pages of the heap, and pages of the program's and its libraries' files.
    package static func release() { broker_release_memory() }
}
