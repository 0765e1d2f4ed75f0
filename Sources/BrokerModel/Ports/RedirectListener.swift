/// Receives the browser's redirect on loopback (RFC 8252, section 7.3).
package protocol RedirectListener: Sendable {
    /// - Parameters:
    ///   - target: where to listen.
    ///   - person: the user whose browser is expected; other users of the machine share few connections.
    ///   - takesForm: whether the redirect may also come as a form (OAuth 2.0 Form Post Response Mode).
    ///   - answer: called for every redirect that reaches the path, including wrong and repeated ones; returns the page for the
    ///   user. It may take as long as the sign-in's last step.
    func open(
        _ target: RedirectTarget, for person: Partition, takesForm: Bool,
        answer: @escaping @Sendable (RedirectParameters) async -> RedirectPage
    ) async throws(RedirectError) -> any RedirectEndpoint
}

package protocol RedirectEndpoint: Sendable {
    /// The value of `redirect_uri` for the provider.
    var redirectURI: String { get }
    /// Stops listening; pages under way are still delivered.
    func close() async
}

package enum RedirectTarget: Sendable, Equatable {
    /// 127.0.0.1 and ::1 at one port that the kernel chooses.
    case anyPort(host: String, path: String)
    /// As the app registered it with its provider.
    case fixed(host: String, port: UInt16, path: String)
}

/// The query or the form of a redirect, decoded. A repeated name is in `repeated`: such a redirect is refused.
package struct RedirectParameters: Sendable {
    package var values: [String: String]
    package var repeated: Set<String>
    /// The address of the redirect, without query and fragment; `nil` if the broker listened there itself.
    package var address: String?
    /// Whether an app or a person supplied it, so that no browser waits for the next page.
    package var isHandedIn = false

    package init(values: [String: String], repeated: Set<String> = []) {
        self.values = values
        self.repeated = repeated
    }

    package subscript(name: String) -> String? { values[name] }
}

/// The final page in the user's browser.
package enum RedirectPage: Sendable, Equatable {
    case signedIn(username: String, app: String)
    /// The user declined or closed the consent page, or an administrator does not allow the sign-in.
    case canceled(app: String, said: String? = nil)
    /// - said: the provider's own reason.
    /// - correlationID: by which an administrator finds the sign-in.
    case failed(app: String, message: String, said: String? = nil, correlationID: String? = nil)
    /// The provider has ended the browser's session.
    case signedOut(app: String)
    /// For a pending sign-in that continues to wait: this response is not acceptable.
    case notAccepted(app: String, why: String)
    /// The sign-in continues at another page of the provider.
    case goesOn(url: String)
    /// A redirect without a waiting sign-in: wrong state, used before, too late.
    case notExpected
}

package enum RedirectError: Error, Sendable, Equatable {
    /// Another process uses the fixed port.
    case portInUse(UInt16)
    case cannotListen(String)
}
