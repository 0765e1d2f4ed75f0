import Glibc

/// The systemd units of a broker: the person's own, or the machine's.
package enum BrokerUnits: Sendable, Equatable {
    case own, machine

    package var service: String { self == .own ? "brokerd.service" : "brokerd-system.service" }
    package var socket: String { self == .own ? "brokerd.socket" : "brokerd-system.socket" }

    /// The command of their service manager.
    package var manager: [String] { self == .own ? ["systemctl", "--user"] : ["systemctl"] }

    /// The command that shows the service's log.
    package var journal: [String] { ["journalctl", self == .own ? "--user-unit" : "--unit", service] }

    /// A command for the person, for the machine's units with the required user: `as root: systemctl restart brokerd-system.service`.
    ///
    /// - Parameter words: a verb with its options, and ``service`` or ``socket``.
    package func advice(_ words: String, uid: uid_t = geteuid()) -> String {
        (self == .machine && uid != 0 ? "as root: " : "") + manager.joined(separator: " ") + " " + words
    }
}

extension SocketLocation {
    /// The units that listen here, if it is a standard location.
    package var units: BrokerUnits { isEverybodys ? .machine : .own }
}
