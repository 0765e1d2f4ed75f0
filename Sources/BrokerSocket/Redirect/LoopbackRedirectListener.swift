import BrokerModel
import Logging
import NIOCore

/// Receives redirects over HTTP on loopback (RFC 8252, section 7.3), and shows the person how the sign-in ended.
package struct LoopbackRedirectListener: RedirectListener {
    private let ports: LoopbackPorts

    /// - Parameters:
    ///   - eventLoop: a loop of a `MultiThreadedEventLoopGroup`.
    ///   - limits: how much an unknown process on loopback can make each port hold.
    ///   - logger: for ports opened and closed.
    package init(on eventLoop: any EventLoop, limits: RedirectLimits = RedirectLimits(), logger: Logger) {
        ports = LoopbackPorts(on: eventLoop, limits: limits, logger: logger)
    }

    package func open(
        _ target: RedirectTarget, for person: Partition, takesForm: Bool,
        answer: @escaping @Sendable (RedirectParameters) async -> RedirectPage
    ) async throws(RedirectError) -> any RedirectEndpoint {
        let address = try RedirectAddress(target)
        // A port free on one family may be taken on the other; another one is tried then.
        for _ in 0..<16 {
            switch await ports.open(address, for: person, takesForm: takesForm, answer) {
            case .opened(let opened): return LoopbackEndpoint(address, opened, of: ports)
            case .failed(let error): throw error
            case .taken: continue
            }
        }
        throw .cannotListen("No port is free on both 127.0.0.1 and ::1; close programs that hold many, and try again.")
    }
}
