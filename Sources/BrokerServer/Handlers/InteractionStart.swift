import BrokerAccess
import BrokerModel
import BrokerRPC
import BrokerValues

/// The rules for beginning a sign-in, or a sign-out in the browser: how often a caller may, and who opens the page.
struct InteractionStart: Sendable {
    let mode: GetBrokerStatus.Mode
    let interactions: CallerAllowance
    let browsers: CallerAllowance

    /// The opener of a page: this broker opens it for a program on another machine, as the person and the redirect are here.
    func presentation(_ asked: Presentation, for caller: Caller) -> Presentation {
        caller.elsewhere != nil && mode == .user ? .broker : asked
    }

    /// Call before a sign-in or sign-out that notifies other programs.
    ///
    /// - Throws: `throttled`; `unsupported` if the broker has no desktop, because it serves many users.
    func begin(_ presentation: Presentation, for caller: Caller) throws(BrokerError) {
        try interactions.take(for: caller)
        guard presentation == .broker else { return }
        guard mode == .user else {
            throw BrokerError(
                .unsupported,
                "This broker serves every user of the machine and opens no browser; ask with presentation client, and open the page yourself."
            )
        }
        try browsers.take(for: caller)
    }
}
