/// How a sign-in page is shown (MSAL: `MSALWebviewParameters`).
public struct WebviewParameters: Sendable {
    package let browser: any BrowserOpening

    /// In the person's own browser: `$BROWSER`, otherwise the desktop's default.
    public init() {
        browser = SystemBrowser()
    }

    /// In a window of the given kind.
    public init(_ kind: WebviewKind) {
        switch kind {
        case .systemBrowser: browser = SystemBrowser()
        case .privateWindow: browser = PrivateWindow()
        }
    }

    /// By a program, run without a shell.
    ///
    /// - Parameter command: the program and its arguments; `%u` in one of them is replaced by the page's URL, which is
    ///   appended otherwise.
    public init(command: [String]) {
        browser = SystemBrowser(command: command)
    }

    /// By an object of the app.
    ///
    /// - Parameter browser: opens each sign-in page.
    public init(browser: any BrowserOpening) {
        self.browser = browser
    }

    /// By a closure of the app: an embedded view, a printed link, a test.
    ///
    /// - Parameter present: shows the page and returns without waiting for the person. If it throws, the sign-in is
    ///   cancelled.
    public init(present: @escaping @Sendable (SignInPage) async throws -> Void) {
        browser = PresentingClosure(present: present)
    }
}

/// The kind of window that shows a sign-in page (MSAL: `MSALWebviewType`).
public enum WebviewKind: Sendable, Hashable, CaseIterable {
    /// The person's own browser, with its sessions: an existing session needs no password.
    case systemBrowser
    /// A private window of the person's default browser, which forgets the session. Firefox, LibreWolf, Chromium, Chrome,
    /// Brave, Vivaldi, Edge and Opera are supported; with another one the sign-in ends with
    /// ``BrokerClientError/Code/browserNotAvailable``.
    case privateWindow
}

private struct PresentingClosure: BrowserOpening {
    let present: @Sendable (SignInPage) async throws -> Void

    func open(_ page: SignInPage) async throws { try await present(page) }
}
