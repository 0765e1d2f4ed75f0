import Glibc

/// The units of systemd that a broker runs by: a person's own, or the machine's.
package enum BrokerUnits: Sendable, Equatable {
    case own, machine

    package var service: String { self == .own ? "brokerd.service" : "brokerd-system.service" }
    package var socket: String { self == .own ? "brokerd.socket" : "brokerd-system.socket" }

    /// The program that speaks with their manager.
    package var manager: [String] { self == .own ? ["systemctl", "--user"] : ["systemctl"] }

    /// The program that shows what the service has said.
    package var journal: [String] { ["journalctl", self == .own ? "--user-unit" : "--unit", service] }

    /// What a person types, and, of the machine's units, who may: `as root: systemctl restart brokerd-system.service`.
    ///
    /// - Parameter words: a verb with its options, and ``service`` or ``socket``.
    package func advice(_ words: String, uid: uid_t = geteuid()) -> String {
        (self == .machine && uid != 0 ? "as root: " : "") + manager.joined(separator: " ") + " " + words
    }
}

extension SocketLocation {
    /// Whose units listen here, where it is a usual place.
    package var units: BrokerUnits { isEverybodys ? .machine : .own }
}
