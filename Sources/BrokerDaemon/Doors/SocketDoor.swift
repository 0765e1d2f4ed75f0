import BrokerConfig
import BrokerServer
import BrokerValues

/// A front with sockets of its own: one next to the broker's, and one in the folder of each sandbox.
package protocol SocketDoor: Sendable {
    /// `FileDescriptorName=` of its socket unit.
    static var activationName: String { get }
    /// The name of its sockets, next to the broker's and in the folders of sandboxes.
    static var fileName: String { get }
    /// The setting of its socket: a path, ``BrokerConfiguration/Doors/off``, or `nil`.
    static func setting(in configuration: BrokerConfiguration) -> String?
    /// The answer while the broker cannot start.
    static func refusal(_ error: BrokerError) -> [UInt8]

    init(_ configuration: BrokerConfiguration)
    /// - Parameter isShut: whether every client is answered that the door is switched off, because systemd holds the socket.
    func front(_ requests: RequestService, isShut: Bool) -> any Front
    /// Applies the settings of a reload.
    func apply(_ configuration: BrokerConfiguration)
}

extension SocketDoor {
    /// The path of the door's socket.
    ///
    /// - Parameter socket: the broker's own socket.
    /// - Returns: `nil` if the door stays shut.
    package static func path(_ configuration: BrokerConfiguration, beside socket: String) -> String? {
        switch setting(in: configuration) {
        case BrokerConfiguration.Doors.off: return nil
        case let path?: return path
        case nil:
            guard !configuration.isSystemMode, let slash = socket.lastIndex(of: "/") else { return nil }
            return socket[...slash] + fileName
        }
    }
}
