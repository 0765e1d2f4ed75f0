import Glibc

/// The address of a Unix socket: `sockaddr_un`.
package struct UnixAddress {
    private var raw = sockaddr_un()

    /// In bytes; one more is for the terminating zero.
    package static let longestPath = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    /// - Returns: `nil` if the path is too long or contains a NUL, at which the kernel would cut it.
    package init?(path: String) {
        guard path.utf8.count <= Self.longestPath, !path.utf8.contains(0) else { return nil }
        raw.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &raw.sun_path) { $0.copyBytes(from: path.utf8) }
    }

    package func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: raw) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
