import BrokerCommandLine
import BrokerRPC
import BrokerValues

/// The environment variables in which programs look for the broker's sockets.
package enum DoorVariables {
    private static let names = [Door.oidcAgent.rawValue: "OIDC_SOCK"]

    /// - Parameter socket: the broker's own.
    static func all(socket: String, _ doors: [OpenDoor]) -> [(name: String, path: String)] {
        [("BROKER_SOCKET", socket)] + doors.compactMap { door in names[door.name].map { ($0, door.path) } }
    }

    /// The format of `brokerctl token --format env`, which both sh and fish read.
    package static func text(socket: String, _ doors: [OpenDoor]) -> String {
        all(socket: socket, doors).map { "export \($0)=\(HandOver.shellWord($1.cleanWhole));\n" }.joined()
    }
}
