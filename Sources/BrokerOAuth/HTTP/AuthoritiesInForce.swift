import Glibc
import Synchronization

/// The certificate authorities that the client trusts now. A replaced file of them is read again before the next request.
final class AuthoritiesInForce: Sendable {
    /// Distinguishes states of a file; `nil` for a missing file.
    private struct Stamp: Equatable {
        let device: dev_t
        let inode: ino_t
        let size: off_t
        let seconds: Int
        let nanoseconds: Int

        init?(_ path: String) {
            var facts = stat()
            guard stat(path, &facts) == 0 else { return nil }
            (device, inode, size) = (facts.st_dev, facts.st_ino, facts.st_size)
            (seconds, nanoseconds) = (facts.st_ctim.tv_sec, facts.st_ctim.tv_nsec)
        }
    }

    private let configuration: HTTPClientConfiguration
    private let state: Mutex<(trust: CertificateTrust, stamps: [Stamp?])>

    init(_ configuration: HTTPClientConfiguration) throws(HTTPClientError) {
        self.configuration = configuration
        // Taken before the files are read: the next check sees a change in between.
        let stamps = Self.stamps(configuration)
        state = Mutex((try CertificateTrust(configuration), stamps))
    }

    /// Unusable files change nothing; the reason is reported once for each state of them.
    var now: CertificateTrust {
        state.withLock { state in
            let stamps = Self.stamps(configuration)
            guard stamps != state.stamps else { return state.trust }
            state.stamps = stamps
            do throws(HTTPClientError) {
                state.trust = try CertificateTrust(configuration)
            } catch {
                configuration.complain(error)
            }
            return state.trust
        }
    }

    private static func stamps(_ configuration: HTTPClientConfiguration) -> [Stamp?] {
        configuration.authorityFiles.map { Stamp($0) }
    }
}
