import Foundation
import Synchronization

/// Ports on loopback without a listener.
package enum FreePort {
    private static let given = Mutex(Set<UInt16>())

    /// Below the range of the kernel's ephemeral ports for connections and listeners (`ip_local_port_range`):
    /// such a port stays free however long the caller takes to listen there.
    private static let range: ClosedRange<UInt16> = 15_000...32_000

    /// A port that is free now, and that this test run returns only once.
    ///
    /// Another test run may take it before the caller does: verify that the program started on it is running.
    package static func next() throws -> UInt16 {
        for _ in 0..<1000 {
            let port = UInt16.random(in: range)
            if try isFree(port), given.withLock({ $0.insert(port).inserted }) { return port }
        }
        throw ProcessFailure("No free port was found.")
    }

    private static func isFree(_ port: UInt16) throws -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw ProcessFailure("No socket can be opened: errno \(errno).") }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        address.sin_port = port.bigEndian
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) == 0 }
        }
    }
}
