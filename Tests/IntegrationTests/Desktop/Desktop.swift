import BrokerTestSupport
import Foundation

/// A screen without a monitor, with a notification daemon (dunst) and the session program that asks the person.
struct Desktop {
    private let bed: TestBed
    private let environment: [String: String]
    let session: ManagedProcess

    /// The line that this screen's menu selects.
    private let menu: String
    /// The program that shows notifications.
    private let service: Service

    /// dunst, which may be restarted.
    private actor Service {
        private let bed: TestBed
        private let launch: Launch
        private var running: ManagedProcess?

        init(_ bed: TestBed, _ launch: Launch) {
            self.bed = bed
            self.launch = launch
        }

        func start() async throws {
            let daemon = try bed.start(launch)
            running = daemon
            try await eventually("notifications can be shown") { [bed, launch] in
                try daemon.requireRunning()
                return try await bed.run(Launch("dunstctl", ["count"], environment: launch.environment)).succeeded
            }
        }

        func stop() async {
            running?.send(SIGTERM)
            _ = await running?.exitStatus()
            running = nil
        }
    }

    /// - Parameters:
    ///   - pages: the file to which a browser writes its URLs.
    ///   - variables: further variables of the session.
    static func start(
        in bed: TestBed, at broker: BrokerProcess, pages: String, variables: [String: String] = [:]
    ) async throws -> Desktop {
        var environment = ["HOME": bed.directory.path, "XDG_RUNTIME_DIR": bed.directory.path]
            .merging(variables) { $1 }
        environment["DBUS_SESSION_BUS_ADDRESS"] = try await SessionBus.start(in: bed)
        let screen = try bed.start(
            Launch("Xvfb", ["-displayfd", "1", "-screen", "0", "900x500x24", "-nolisten", "tcp"]))
        // If another screen exists, its attempts are on the other output stream.
        try await eventually("the screen has a number") { screen.outputText.contains("\n") }
        environment["DISPLAY"] = ":" + screen.outputText.trimmingCharacters(in: .whitespacesAndNewlines)

        // dunst shows a menu for several buttons; this command selects the line with this prefix.
        let menu = bed.path(bed.unique("menu"))
        let settings = menu + ".dunstrc"
        try "[global]\ndmenu = /usr/bin/grep -m 1 -F -f \(menu)\nwidth = 600\nfont = Monospace 12\n".write(
            toFile: settings, atomically: true, encoding: .utf8)
        let service = Service(bed, Launch("dunst", ["-config", settings], environment: environment))
        // Before the session asks: the bus would start another daemon, which has no screen.
        try await service.start()

        // The browser is a program that is started with a URL.
        environment["BROWSER"] = "/bin/sh -c 'printf %%s \"$1\" > \(pages).new && mv \(pages).new \(pages)' sh %u"
        let session = try bed.start(
            Launch(
                try PackageTree.program("brokerctl"), ["--socket", broker.socket, "session", "--stay"],
                environment: environment), as: "session")
        // It listens after it has connected.
        try await eventually("the session listens") {
            let links = try await bed.run(Launch("ls", ["-l", "/proc/\(session.pid)/fd"])).output
            return links.split(separator: "\n").count { $0.contains("socket:") } > 0
        }
        return Desktop(bed: bed, environment: environment, session: session, menu: menu, service: service)
    }

    func stopService() async { await service.stop() }
    func startService() async throws { try await service.start() }

    func restartService() async throws {
        await stopService()
        try await startService()
    }

    /// The number of notifications on the screen.
    func shown() async throws -> Int {
        let count = try await dunst("count", "displayed")
        return Int(count.output.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
    }

    /// Waits for a notification, and presses one of its buttons.
    func press(_ button: String) async throws {
        try await eventually("a notice is shown") { try await shown() == 1 }
        let pressed = try await pressNow(button)
        guard pressed.succeeded else { throw ProcessFailure("\(pressed)") }
    }

    /// Presses a button of the notification that is shown, if there is one.
    @discardableResult
    func pressNow(_ button: String) async throws -> CommandResult {
        try "#\(button) (".write(toFile: menu, atomically: true, encoding: .utf8)
        return try await dunst("context")
    }

    /// The texts of closed notifications.
    func history() async throws -> String { try await dunst("history").output }

    /// A screenshot, for inspection.
    func picture(_ file: String) async throws {
        _ = try await bed.run(Launch("import", ["-window", "root", file], environment: environment))
    }

    private func dunst(_ arguments: String...) async throws -> CommandResult {
        try await bed.run(Launch("dunstctl", arguments, environment: environment))
    }
}
