import BrokerValues
import Glibc

/// The person's own browser: the commands of `$BROWSER`, then the desktop's portal, then `xdg-open`.
///
/// A program that is still running after a moment, or that ended well, is taken to have opened the page; one that cannot
/// be started, or fails at once (`xdg-open` where there is no desktop), is passed over for the next.
public struct SystemBrowser: BrowserOpening {
    private let commands: [BrowserCommand]
    private let patience: Duration

    /// The browser that this process's environment names.
    public init() {
        self.init(variable: SocketLocation.variable("BROWSER"))
    }

    /// - Parameters:
    ///   - variable: the value of `$BROWSER`.
    ///   - patience: how long a program may take to fail.
    package init(variable: String?, patience: Duration = .seconds(2)) {
        commands =
            BrowserCommand.named(by: variable)
            + BrowserCommand.ofDesktop(hasSessionBus: Self.hasDisplay && Self.isSet("DBUS_SESSION_BUS_ADDRESS"))
        self.patience = patience
    }

    /// One command and no other.
    init(command: [String]) { self.init(BrowserCommand(command)) }

    package init(_ command: BrowserCommand?) {
        commands = command.map { [$0] } ?? []
        patience = .seconds(2)
    }

    /// Opens the page and returns without waiting for the person.
    ///
    /// - Parameter page: what to show.
    /// - Throws: ``BrokerClientError`` with ``BrokerClientError/Code/browserNotAvailable`` when no command worked, or
    ///   the URL is none for a browser.
    public func open(_ page: SignInPage) async throws {
        guard BrowserCommand.isWebAddress(page.url) else {
            throw BrokerClientError(
                .invalidResponse, "The broker named a sign-in page that is no web address, so it was not opened.")
        }
        for command in commands where await start(command, url: page.url) { return }
        let tried = commands.map(\.program).joined(separator: ", ")
        throw BrokerClientError(
            .browserNotAvailable,
            "No browser could be started (tried \(tried)); set BROWSER to a browser's command, or open the page by hand."
        )
    }

    private func start(_ command: BrowserCommand, url: String) async -> Bool {
        let environment = command == .desktop ? Self.desktopEnvironment : [:]
        guard let child = ChildProcess.start(command.commandLine(for: url), environment: environment) else {
            return false
        }
        let deadline = ContinuousClock.now + (command.endsAtOnce ? .seconds(60) : patience)
        var pause = Duration.milliseconds(5)
        while ContinuousClock.now < deadline {
            if let status = child.pollExit() { return status == 0 }
            do { try await Task.sleep(for: pause) } catch { break }
            pause = min(pause * 2, .milliseconds(100))
        }
        child.reapLater()
        return true
    }

    /// Without a display `xdg-open` goes on to browsers for terminals; they have none here, and still end well.
    private static var desktopEnvironment: [String: String] {
        hasDisplay ? [:] : ["BROWSER": "false"]
    }

    /// Over ssh the session bus may be that of a desktop that the person does not sit at.
    private static var hasDisplay: Bool { isSet("DISPLAY") || isSet("WAYLAND_DISPLAY") }

    private static func isSet(_ name: String) -> Bool { SocketLocation.variable(name)?.isEmpty == false }
}
