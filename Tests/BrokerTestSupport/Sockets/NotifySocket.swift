import BrokerSystem
import Glibc

/// The service manager's end of `$NOTIFY_SOCKET`.
package final class NotifySocket: Sendable {
    package let path: String
    private let descriptor: Int32

    package init(path: String) throws {
        guard let address = UnixAddress(path: path) else { throw ProcessFailure("\(path) is too long") }
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        let result = address.withPointer { bind(descriptor, $0, $1) }
        guard result == 0 else { throw ProcessFailure("bind \(path): errno \(errno)") }
    }

    deinit { close(descriptor) }

    /// The datagrams that have arrived so far.
    package func received() -> [String] {
        var all: [String] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count >= 0 else { return all }
            all.append(String(decoding: buffer.prefix(count), as: UTF8.self))
        }
    }
}
