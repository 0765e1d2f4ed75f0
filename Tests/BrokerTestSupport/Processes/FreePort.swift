import Foundation
import Synchronization

/// Ports on loopback that nothing listens on.
package enum FreePort {
    private static let given = Mutex(Set<UInt16>())

    /// A port that is free now, and that this test run gives out only once.
    ///
    /// Somebody else may take it before the caller does: what is started on it must be seen to be there.
    package static func next() throws -> UInt16 {
        for _ in 0..<100 {
            let port = try freeNow()
            if given.withLock({ $0.insert(port).inserted }) { return port }
        }
        throw ProcessFailure("No free port was found.")
    }

    private static func freeNow() throws -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(descriptor, generic, length) == 0 && getsockname(descriptor, generic, &length) == 0
            }
        }
        guard result else { throw ProcessFailure("No port can be bound on 127.0.0.1: errno \(errno).") }
        return UInt16(bigEndian: address.sin_port)
    }
}
