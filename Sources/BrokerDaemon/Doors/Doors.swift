import BrokerConfig
import BrokerHost
import BrokerServer
import BrokerSocket
import BrokerValues
import Logging

/// The doors in addition to the broker's own socket.
struct Doors: Sendable {
    /// The types of the doors; a new door is an entry here.
    private static let types: [any SocketDoor.Type] = [OIDCAgentDoor.self]

    private let doors: [any SocketDoor]
    private let server: Server

    init(_ configuration: BrokerConfiguration, _ server: Server) {
        doors = Self.types.map { $0.init(configuration) }
        self.server = server
    }

    static var activationNames: [String] { types.map { $0.activationName } }

    /// The answer on an activated socket while the broker cannot start.
    ///
    /// - Parameter name: the socket's `FileDescriptorName=`; `nil` for the broker's own.
    static func refusal(_ error: BrokerError, at name: String?) -> [UInt8] {
        types.first { $0.activationName == name }?.refusal(error) ?? JSONRPCFront.refusal(error)
    }

    /// The fronts that a sandbox reaches, each through a socket in its folder.
    func inSandboxes(_ configuration: BrokerConfiguration) -> [SandboxFront] {
        doors.compactMap { door in
            let type = Swift.type(of: door)
            guard type.setting(in: configuration) != BrokerConfiguration.Doors.off else { return nil }
            return SandboxFront(
                server.serving(door.front(server.requests, isShut: false)), fileName: type.fileName)
        }
    }

    /// Binds their sockets; clients wait until the doors are served.
    ///
    /// - Parameters:
    ///   - socket: the broker's own.
    ///   - handed: the sockets from systemd, by name. The clients of such a socket get an answer also if the door is shut.
    /// - Throws: if a path in the configuration cannot be bound.
    func bind(
        beside socket: String, handed: [String: ActivatedSocket], _ configuration: BrokerConfiguration, _ logger: Logger
    ) throws(SocketError) -> [BoundDoor] {
        var bound: [BoundDoor] = []
        for door in doors {
            let type = Swift.type(of: door)
            let path = type.path(configuration, beside: socket)
            let handed = handed[type.activationName]
            guard path != nil || handed != nil else { continue }
            let front = door.front(server.requests, isShut: path == nil)
            do throws(SocketError) {
                let socket = try configuration.listeningSocket(at: path ?? "", handed)
                bound.append(
                    BoundDoor(
                        door: front.door, service: server.serving(front), socket: socket,
                        path: path.map { handed?.path ?? $0 }))
            } catch {
                guard type.setting(in: configuration) == nil else {
                    for door in bound { door.socket.removePath() }
                    throw error
                }
                logger.warning("a door stays shut", metadata: ["door": "\(front.door.rawValue)", "cause": "\(error)"])
            }
        }
        return bound
    }

    func apply(_ configuration: BrokerConfiguration) {
        for door in doors { door.apply(configuration) }
    }
}

/// A door whose socket is bound.
struct BoundDoor: Sendable {
    let door: Door
    let service: FrontService
    let socket: ListeningSocket
    /// The path of the socket; `nil` if the door is shut, and its clients get an answer that says so.
    let path: String?

    /// - Parameters:
    ///   - main: the listener whose limits apply to the connections of all doors together.
    ///   - opened: records the open doors.
    func serve(beside main: LocalListener, noting opened: OpenDoors) async throws(SocketError) -> LocalListener {
        let listener = try await main.startAnother(socket, service: service)
        if let path { opened.add(door, at: path) }
        return listener
    }
}
