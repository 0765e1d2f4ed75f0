import BrokerValues
import Foundation

/// The built `brokerd`, with a separate socket and state directory.
package struct BrokerProcess: Sendable {
    /// A test's changes to the default broker.
    package struct Options: Sendable {
        /// The home of an earlier broker, to find its data.
        package var stateDirectory: String?
        /// Whether the command line names the state directory. Otherwise it must be the one that belongs to the home.
        package var namesStateDirectory = true
        package var caFile: String?
        package var allowsHTTPLoopback = true
        /// The text of a configuration file.
        package var configuration: String?
        package var arguments: [String] = []
        /// The socket's path, if it is not one of the bed's.
        package var socket: String?
        /// Passed in as by systemd; without it the broker binds its own socket.
        package var activated: ServiceSocket?
        /// A program and its arguments that end by executing the rest (`nsenter … --`).
        package var wrapper: [String] = []
        /// Another copy of `brokerd` than the built one.
        package var program: String?

        package init() {}
    }

    package let process: ManagedProcess
    package let socket: String
    package let stateDirectory: String
    /// The path of the configuration file, if there is one.
    package let configurationFile: String?
    private let bed: TestBed

    /// Starts a broker and waits until its socket accepts.
    package static func start(
        in bed: TestBed, _ change: (inout Options) -> Void = { _ in }
    ) async throws -> BrokerProcess {
        var options = Options()
        change(&options)
        let place = try Place(in: bed, options)
        let process = try bed.start(place.launch, as: "brokerd")
        let broker = BrokerProcess(
            process: process, socket: place.socket, stateDirectory: place.stateDirectory,
            configurationFile: place.configurationFile, bed: bed)
        try await eventually("brokerd accepts at \(place.socket)") {
            try process.requireRunning()
            guard let client = try? await LineClient.connect(to: place.socket) else { return false }
            await client.close()
            return true
        }
        return broker
    }

    /// Runs a broker that is expected to end by itself.
    package static func run(
        in bed: TestBed, _ change: (inout Options) -> Void = { _ in }
    ) async throws -> CommandResult {
        var options = Options()
        change(&options)
        return try await bed.run(Place(in: bed, options).launch)
    }

    package func connect() async throws -> WireConnection { try await WireConnection.connect(to: socket) }

    /// A client that can misbehave.
    package func connectRaw() async throws -> LineClient { try await LineClient.connect(to: socket) }

    /// One call on a new connection.
    package func call(_ method: String, _ params: JSONObject = [:]) async throws -> JSONObject {
        let connection = try await connect()
        do {
            let result = try await connection.call(method, params)
            await connection.close()
            return result
        } catch {
            await connection.close()
            throw error
        }
    }

    /// Runs `brokerctl` against this broker.
    package func ctl(_ arguments: [String], input: String? = nil) async throws -> CommandResult {
        try await bed.run(controlling(arguments), input: input)
    }

    /// Starts a `brokerctl` for interactive use.
    package func startCtl(_ arguments: [String], environment: [String: String] = [:]) throws -> ManagedProcess {
        var launch = try controlling(arguments)
        launch.hasInput = true
        launch.environment.merge(environment) { $1 }
        return try bed.start(launch, as: "brokerctl")
    }

    @discardableResult
    package func stop() async -> ExitStatus { await process.stop() }

    package func kill() async {
        process.send(SIGKILL)
        _ = await process.exitStatus()
    }

    private func controlling(_ arguments: [String]) throws -> Launch {
        Launch(try PackageTree.program("brokerctl"), ["--socket", socket] + arguments)
    }

    /// The broker's paths, and its arguments.
    private struct Place {
        var socket: String
        var stateDirectory: String
        var configurationFile: String?
        var launch: Launch

        init(in bed: TestBed, _ options: Options) throws {
            socket = try options.activated?.path ?? options.socket ?? bed.makeDirectory("run") + "/broker.sock"
            stateDirectory = try options.stateDirectory ?? bed.makeDirectory("state")
            var arguments = ["--socket", socket]
            if options.namesStateDirectory { arguments += ["--state-dir", stateDirectory] }
            if options.allowsHTTPLoopback { arguments.append("--allow-http-loopback") }
            if let caFile = options.caFile { arguments += ["--ca-file", caFile] }
            if let configuration = options.configuration {
                let file = try bed.makeDirectory("etc") + "/broker.toml"
                try configuration.write(toFile: file, atomically: true, encoding: .utf8)
                configurationFile = file
                arguments += ["--config", file]
            }
            let whole =
                options.wrapper + (options.activated == nil ? [] : Self.activation) + [
                    try options.program ?? PackageTree.program("brokerd")
                ] + arguments + options.arguments
            // Its home is the test's, and it has no runtime directory: no file of the user who runs the tests is read or
            // written, and none outlives a state that a test removes.
            launch = Launch(
                whole[0], Array(whole.dropFirst()),
                environment: ["HOME": bed.directory.path, "XDG_RUNTIME_DIR": bed.path("no-runtime-directory")])
            launch.descriptor = options.activated?.descriptor
        }

        /// The protocol of sd_listen_fds(3), which names the receiving process.
        private static let activation = [
            "/bin/sh", "-c", #"LISTEN_PID=$$ LISTEN_FDS=1 LISTEN_FDNAMES=brokerd.socket exec "$@""#, "sh",
        ]
    }
}
