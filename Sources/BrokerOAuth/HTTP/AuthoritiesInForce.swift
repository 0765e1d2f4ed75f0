import Glibc
import Synchronization

/// The certificate authorities that the client trusts now. A file of them that was replaced is read again before the next request.
final class AuthoritiesInForce: Sendable {
    /// What tells one state of a file from another; nil for a file that is not there.
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

    init(_ configuration: HTTPClientConfiguration) throws(HTTPClient.ConfigurationError) {
        self.configuration = configuration
        // Before they are read: a change meanwhile is seen by the next look.
        let stamps = Self.stamps(configuration)
        state = Mutex((try CertificateTrust(configuration), stamps))
    }

    /// Files that cannot be used now change nothing; why is said once for each state of them.
    var now: CertificateTrust {
        state.withLock { state in
            let stamps = Self.stamps(configuration)
            guard stamps != state.stamps else { return state.trust }
            state.stamps = stamps
            do throws(HTTPClient.ConfigurationError) {
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
