import BrokerClient
import BrokerSystem
import Glibc

/// A socket that this program makes for a sandbox and hands to the broker. It is alone in a folder of its own, and nobody answers
/// at it any more when this program ends, however it ends: the other end of ``life`` is closed then.
struct LaunchedSocket: ~Copyable {
    let folder: String
    var path: String { folder + "/broker.sock" }
    /// What the broker is given.
    let listener: Int32
    let life: Int32
    private let held: Int32

    init() throws(BrokerClientError) {
        let folder = try Self.makeFolder()
        guard let ends = ChildProcess.connection() else {
            let failure = Self.failure
            rmdir(folder)
            throw failure
        }
        let listener = Self.listen(at: folder + "/broker.sock")
        guard let listener else {
            let failure = Self.failure
            for end in ends { close(end) }
            unlink(folder + "/broker.sock")
            rmdir(folder)
            throw failure
        }
        (self.folder, self.listener, life, held) = (folder, listener, ends[0], ends[1])
    }

    deinit {
        for descriptor in [listener, life, held] { close(descriptor) }
        unlink(path)
        rmdir(folder)
    }

    /// Where the session keeps such things, or else for temporary files; nobody else may enter.
    private static func makeFolder() throws(BrokerClientError) -> String {
        let session = getenv("XDG_RUNTIME_DIR").map { String(cString: $0) } ?? ""
        for place in [session, "/tmp"] where place.hasPrefix("/") {
            var template = Array("\(place)/brokerctl-XXXXXX".utf8CString)
            guard mkdtemp(&template) != nil else { continue }
            return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        throw failure
    }

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

    private static var failure: BrokerClientError {
        BrokerClientError(
            .unsupported,
            "A socket for the sandbox cannot be made: \(errnoText(errno)). Free some space below $XDG_RUNTIME_DIR.")
    }
}
