import BrokerLink
import Glibc

/// A socket that this program makes for a sandbox and hands to the broker. It is alone in a folder of its own, and nobody answers
/// at it any more when this program ends, however it ends: the other end of ``life`` is closed then.
struct LaunchedSocket: ~Copyable {
    private let place: LaunchFolder
    var folder: String { place.path }
    var path: String { Self.path(in: place.path) }
    /// What the broker is given.
    let listener: Int32
    let life: Int32
    private let held: Int32

    init() throws(BrokerClientError) {
        let place = try LaunchFolder()
        guard let ends = ChildProcess.connection() else { throw .noSocketForSandbox }
        guard let listener = Self.listen(at: Self.path(in: place.path)) else {
            let failure = BrokerClientError.noSocketForSandbox
            for end in ends { close(end) }
            unlink(Self.path(in: place.path))
            throw failure
        }
        self.place = place
        (self.listener, life, held) = (listener, ends[0], ends[1])
    }

    deinit {
        for descriptor in [listener, life, held] { close(descriptor) }
        unlink(path)
    }

    private static func path(in folder: String) -> String { "\(folder)/\(LaunchFolder.socketName)" }

    private static func listen(at path: String) -> Int32? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            errno = ENAMETOOLONG
            return nil
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let isBound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        guard isBound, chmod(path, 0o600) == 0, Glibc.listen(descriptor, SOMAXCONN) == 0 else {
            let code = errno
            if descriptor >= 0 { close(descriptor) }
            errno = code
            return nil
        }
        return descriptor
    }
}
