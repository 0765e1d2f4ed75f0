import BrokerModel
import BrokerSystem
import BrokerValues
import Logging
import Synchronization

/// Starts the person's browser, for `presentation: "broker"`. No shell is involved.
///
/// The URL is in the browser's arguments, which every process of the machine can read (unless `/proc` is mounted with `hidepid`):
/// an authorization URL holds the state, the nonce and the hash of the verifier, none of which is enough for a token. The page
/// that ends the browser's session gets an ID token, and so does `prompt=none` at a provider without pushed requests: no
/// credential, but it identifies the person. The URL is not logged.
package final class BrowserLauncher: BrowserOpener {
    private let environment: [String: String]
    private let commands: Mutex<[BrowserCommand]>
    private let clock: any BrokerClock
    private let logger: Logger
    /// The time after which a browser that still runs is assumed to show the page.
    private let patience: Duration

    /// - Parameters:
    ///   - command: the program and its arguments; if empty, those of the environment.
    ///   - patience: the time after which a browser that still runs counts as started.
    package init(
        command: [String] = [],
        environment: [String: String] = ProcessEnvironment.current(), clock: any BrokerClock, logger: Logger,
        patience: Duration = .seconds(3)
    ) {
        self.environment = environment
        commands = Mutex(BrowserCommand.candidates(configured: command, environment: environment))
        self.clock = clock
        self.logger = logger
        self.patience = patience
    }

    /// Takes effect with the next page.
    package func apply(command: [String]) {
        let candidates = BrowserCommand.candidates(configured: command, environment: environment)
        commands.withLock { $0 = candidates }
    }

    package func open(_ url: String) async throws(BrowserError) {
        guard BrowserCommand.isWebAddress(url) else {
            throw BrowserError("The sign-in page has no web address that a browser may be given.")
        }
        let commands = commands.withLock { $0 }
        for command in commands {
            if await run(command, url: url) { return }
            // Nobody waits for the page any more.
            guard !Task.isCancelled else { throw BrowserError("The page is no longer wanted.") }
            logger.debug("a browser could not be started", metadata: ["program": "\(command.program)"])
        }
        throw BrowserError(
            "No browser could be started (tried \(commands.map(\.program).joined(separator: ", "))); "
                + "set BROWSER, or sign in with a client that opens the page itself.")
    }

    /// - Returns: whether the program still runs after ``patience``, or exited with 0 before.
    private func run(_ command: BrowserCommand, url: String) async -> Bool {
        if command.endsAtOnce { return await exitsWell(command, url: url) }
        let (outcomes, report) = AsyncStream.makeStream(of: Bool.self, bufferingPolicy: .bufferingOldest(1))
        // Not a child of the request: the browser outlives the sign-in, and ending the task would end the browser.
        Task.detached { [self] in
            report.yield(await exitsWell(command, url: url))
            report.finish()
        }
        let patience = patience
        let clock = clock
        let timer = Task {
            try? await clock.sleep(for: patience)
            report.yield(true)
        }
        defer { timer.cancel() }
        for await outcome in outcomes { return outcome }
        return false
    }

    private func exitsWell(_ command: BrowserCommand, url: String) async -> Bool {
        let program = ChildProgram(words: command.commandLine(for: url), hasOwnSession: true)
        let ending = await program.run()
        if case .notStarted(let code) = ending {
            logger.debug("a browser cannot run", metadata: ["program": "\(command.program)", "errno": "\(code)"])
        }
        return ending.isWell
    }
}
