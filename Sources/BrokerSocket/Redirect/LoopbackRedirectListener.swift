import BrokerModel
import BrokerSystem
import Glibc
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix

/// Receives redirects over HTTP on loopback (RFC 8252, section 7.3), and shows the person how the sign-in ended.
package struct LoopbackRedirectListener: RedirectListener {
    private let eventLoop: any EventLoop
    private let limits: RedirectLimits
    private let logger: Logger

    /// - Parameters:
    ///   - eventLoop: of a `MultiThreadedEventLoopGroup`.
    ///   - limits: what a stranger on loopback can make this hold.
    ///   - logger: for ports opened and closed.
    package init(on eventLoop: any EventLoop, limits: RedirectLimits = RedirectLimits(), logger: Logger) {
        self.eventLoop = eventLoop
        self.limits = limits
        self.logger = logger
    }

    package func open(
        _ target: RedirectTarget, answer: @escaping @Sendable (RedirectParameters) async -> RedirectPage
    ) async throws(RedirectError) -> any RedirectEndpoint {
        let address = try RedirectAddress(target)
        // With a free port on one family it may be taken on the other; another one is tried then.
        for _ in 0..<16 {
            if let endpoint = try await listen(at: address, answer: answer) {
                logger.debug("waiting for a redirect", metadata: ["port": "\(endpoint.port)"])
                return endpoint
            }
        }
        throw .cannotListen("No port is free on both 127.0.0.1 and ::1; close programs that hold many, and try again.")
    }

    /// - Returns: nil when the kernel's choice is taken on the other family.
    private func listen(
        at address: RedirectAddress, answer: @escaping RedirectHandler.Answer
    ) async throws(RedirectError) -> LoopbackEndpoint? {
        let endpoint = LoopbackEndpoint(address: address, on: eventLoop, limits: limits, answer: answer, logger: logger)
        for family in address.families {
            let code = await endpoint.bind(family.ip)
            // A machine without IPv6, as a rule.
            let isMissing = code == EADDRNOTAVAIL || code == EAFNOSUPPORT
            switch code {
            case 0: continue
            case _ where isMissing && !family.isNeeded: continue
            case EADDRINUSE:
                await endpoint.close()
                guard let port = address.port else { return nil }
                throw .portInUse(port)
            default:
                await endpoint.close()
                let why = errnoText(code)
                throw .cannotListen("The broker cannot listen at \(family.ip) for the redirect: \(why).")
            }
        }
        return endpoint
    }
}
