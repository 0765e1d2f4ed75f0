/// Receives the browser's redirect on loopback (RFC 8252, section 7.3).
package protocol RedirectListener: Sendable {
    /// - Parameters:
    ///   - target: where to listen.
    ///   - person: whose browser comes; who else of the machine does has few places.
    ///   - takesForm: whether the redirect may also come as a form (OAuth 2.0 Form Post Response Mode).
    ///   - answer: called for every redirect that reaches the path, also wrong and repeated ones; what it returns is the
    ///     page the person sees. It may take as long as the sign-in's last step.
    func open(
        _ target: RedirectTarget, for person: Partition, takesForm: Bool,
        answer: @escaping @Sendable (RedirectParameters) async -> RedirectPage
    ) async throws(RedirectError) -> any RedirectEndpoint
}

package protocol RedirectEndpoint: Sendable {
    /// What goes to the provider as `redirect_uri`.
    var redirectURI: String { get }
    /// Stops listening; pages under way are still delivered.
    func close() async
}

package enum RedirectTarget: Sendable, Equatable {
    /// 127.0.0.1 and ::1 at one port the kernel chooses.
    case anyPort(host: String, path: String)
    /// As the app registered it with its provider.
    case fixed(host: String, port: UInt16, path: String)
}

/// The query or the form of a redirect, decoded. A name that came twice is in `repeated`: such a redirect is refused.
package struct RedirectParameters: Sendable {
    package var values: [String: String]
    package var repeated: Set<String>
    /// Where the browser came back to, without query and fragment; nil where the broker listened there itself.
    package var address: String?
    /// Whether an app or a person handed it in, so that no browser waits for the next page.
    package var isHandedIn = false

    package init(values: [String: String], repeated: Set<String> = []) {
        self.values = values
        self.repeated = repeated
    }

    package subscript(name: String) -> String? { values[name] }
}

/// What the person reads in the browser at the end.
package enum RedirectPage: Sendable, Equatable {
    case signedIn(username: String, app: String)
    /// The person said no, or closed the consent page; or an administrator does not let them in.
    case canceled(app: String, said: String? = nil)
    /// - said: the provider's own reason.
    /// - correlationID: what an administrator finds the sign-in by.
    case failed(app: String, message: String, said: String? = nil, correlationID: String? = nil)
    /// The provider has ended the browser's session.
    case signedOut(app: String)
    /// For a sign-in that waits, and goes on waiting: this is no answer that it can take.
    case notAccepted(app: String, why: String)
    /// The sign-in goes on at another page of the provider.
    case goesOn(url: String)
    /// A redirect that belongs to no waiting sign-in: wrong state, used before, too late.
    case notExpected
}

package enum RedirectError: Error, Sendable, Equatable {
    /// The fixed port is taken by somebody else.
    case portInUse(UInt16)
    case cannotListen(String)
}
