import Glibc

/// A socket whose last close takes ten minutes: its written bytes are never read, and it lingers.
struct LingeringSocket {
    let descriptor: Int32

    /// The other end stays open; `nil` if the system has none, with the reason in errno.
    init?() {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        let listener = socket(AF_INET, kind, 0)
        defer { close(listener) }
        descriptor = socket(AF_INET, kind, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isConnected = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && listen(listener, 1) == 0
                    && getsockname(listener, address, &length) == 0 && connect(descriptor, address, length) == 0
                    && accept(listener, nil, nil) >= 0
            }
        }
        guard isConnected else { return nil }
        let bytes = [UInt8](repeating: 0, count: 1 << 16)
        while send(descriptor, bytes, bytes.count, Int32(MSG_DONTWAIT)) > 0 {}
        var time = linger(l_onoff: 1, l_linger: 600)
        guard setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &time, socklen_t(MemoryLayout<linger>.size)) == 0
        else { return nil }
    }
}
