import BrokerConfig
import BrokerHost
import BrokerModel
import BrokerServer
import BrokerSocket
import Glibc
import Logging

/// The broker's own socket, those of its doors and those of sandboxes, all on one reactor.
struct Listeners: Sendable {
    let reactor: Reactor
    let main: LocalListener
    /// The path of the broker's own socket; `nil` if systemd made it.
    let ownPath: String?
    private let doors: Doors
    private let ofDoors: [LocalListener]
    private let sandboxes: SandboxSockets

    /// - Parameter activated: the sockets from systemd; without any the broker binds its own.
    static func open(
        _ configuration: BrokerConfiguration, _ server: Server, _ sandboxes: SandboxSockets,
        activated: ActivatedSockets?, logger: Logger
    ) async throws(SocketError) -> Listeners {
        let limits = connectionLimits(configuration, logger)
        let doors = Doors(configuration, server)
        let reactor = try Reactor()
        let front = server.serving(JSONRPCFront(server.requests))
        // A client that finds the broker's own socket also finds those of the doors.
        let bound = try doors.bind(
            beside: activated?.main.path ?? configuration.socketPath, handed: activated?.others ?? [:], configuration,
            logger)
        let main: LocalListener
        do throws(SocketError) {
            main = try await LocalListener.start(
                try configuration.listeningSocket(at: configuration.socketPath, activated?.main), on: reactor,
                service: front, limits: limits, logger: logger)
        } catch {
            for door in bound { door.socket.removePath() }
            throw error
        }
        let configured = configuration.openSandboxes
        sandboxes.begin(
            beside: main, configured: Set(configured.keys), SandboxFront(front),
            others: doors.inSandboxes(configuration))
        await sandboxes.open(configured: configured, of: Partition(uid: geteuid()))
        var ofDoors: [LocalListener] = []
        for door in bound { ofDoors.append(try await door.serve(beside: main, noting: server.doors)) }
        return Listeners(
            reactor: reactor, main: main, ownPath: activated == nil ? configuration.socketPath : nil, doors: doors,
            ofDoors: ofDoors, sandboxes: sandboxes)
    }

    /// Applies the settings of a reload.
    func apply(_ configuration: BrokerConfiguration) async {
        doors.apply(configuration)
        await sandboxes.open(configured: configuration.openSandboxes, of: Partition(uid: geteuid()))
    }

    /// Returns when everything in flight is answered; cuts it off after a time.
    func shutDown(within patience: Duration) async {
        async let main = main.shutDown(within: patience)
        async let doors: Void = shutDownDoors(within: patience)
        async let sandboxes: Void = sandboxes.shutDown(within: patience)
        _ = await (main, doors, sandboxes)
    }

    private func shutDownDoors(within patience: Duration) async {
        for listener in ofDoors { await listener.shutDown(within: patience) }
    }

    /// Limits connections to the available descriptors: each client then gets a slot, or an answer that says why not.
    private static func connectionLimits(_ configuration: BrokerConfiguration, _ log: Logger) -> ConnectionLimits {
        var limits = configuration.connectionLimits
        let descriptors = DescriptorLimit.raise(to: limits.descriptors)
        let wanted = limits.connections
        limits.fit(descriptors: descriptors)
        if limits.connections < wanted {
            log.warning(
                "there are fewer connections than the configuration says: the process may not have more descriptors",
                metadata: ["connections": "\(limits.connections)", "descriptors": "\(descriptors)"])
        }
        return limits
    }
}
