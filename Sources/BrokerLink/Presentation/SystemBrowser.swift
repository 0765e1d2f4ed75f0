import BrokerValues
import Glibc

/// The person's own browser: the commands of `$BROWSER`, then the desktop's portal, then `xdg-open`.
///
/// A program that is still running after a moment, or that succeeded, is assumed to have opened the page; one that cannot
/// be started, or fails at once (`xdg-open` without a desktop), is skipped.
public struct SystemBrowser: BrowserOpening {
    private let commands: [BrowserCommand]
    private let patience: Duration

    /// The browser that this process's environment names.
    public init() {
        self.init(variable: SocketLocation.variable("BROWSER"))
    }

    /// - Parameters:
    ///   - variable: the value of `$BROWSER`.
    ///   - patience: how long to watch a program for a failure.
    package init(variable: String?, patience: Duration = .seconds(2)) {
        commands =
            BrowserCommand.named(by: variable)
            + BrowserCommand.ofDesktop(hasSessionBus: Self.hasDisplay && Self.isSet("DBUS_SESSION_BUS_ADDRESS"))
        self.patience = patience
    }

    /// Uses this one command only.
    init(command: [String]) { self.init(BrowserCommand(command)) }

    package init(_ command: BrowserCommand?) {
        commands = command.map { [$0] } ?? []
        patience = .seconds(2)
    }

    /// Opens the page and returns without waiting for the person.
    ///
    /// - Parameter page: the page to show.
    /// - Throws: ``BrokerClientError`` with ``BrokerClientError/Code/browserNotAvailable`` if no command worked, or
    ///   if the URL is not valid for a browser.
    public func open(_ page: SignInPage) async throws {
        guard BrowserCommand.isWebAddress(page.url) else {
            throw BrokerClientError(
                .invalidResponse, "The broker named a sign-in page that is not a web address, so it was not opened.")
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

    /// Without a display, `xdg-open` continues with terminal browsers, which have no terminal here but still exit with 0.
    private static var desktopEnvironment: [String: String] {
        hasDisplay ? [:] : ["BROWSER": "false"]
    }

    /// Over ssh, the session bus may belong to a desktop that the person is not in front of.
    private static var hasDisplay: Bool { isSet("DISPLAY") || isSet("WAYLAND_DISPLAY") }

    private static func isSet(_ name: String) -> Bool { SocketLocation.variable(name)?.isEmpty == false }
}
