import BrokerModel
import BrokerValues

/// The meaning of a security module's label for a process. Pure; the forms are of AppArmor (`NAME (mode)`) and SELinux
/// (`user:role:type:level`).
enum LabelVerdict: Equatable {
    /// There is no label, or it confines nothing.
    case unconfined
    /// A snap whose profile the kernel enforces: `snap.NAME.APP`.
    case snap(String)
    /// The type of a container: the process is inside of one, whatever its namespaces look like.
    case container(String)
    case confined(String)
    case unreadable

    init(_ label: SecurityLabel) {
        switch label {
        case .none: self = .unconfined
        case .unreadable: self = .unreadable
        case .text(let text): self = Self.verdict(on: text)
        }
    }

    private static func verdict(on text: String) -> LabelVerdict {
        // systemd's own name for "no policy loaded yet", and AppArmor's for no profile.
        if text == "unconfined" || text == "kernel" { return .unconfined }
        if let type = seLinuxType(text) {
            if containerTypes.contains(type) { return .container(text) }
            return unconfinedTypes.contains(type) ? .unconfined : .confined(text)
        }
        guard let space = text.lastIndex(of: " "), text.hasSuffix(")") else { return .confined(text) }
        let name = String(text[..<space])
        let mode = text[space...].dropFirst(2).dropLast()
        // A profile in complain mode, or one made to allow everything, confines nothing.
        guard confiningModes.contains(String(mode)) else { return .unconfined }
        return mode == "enforce" && isSnap(name) ? .snap(name) : .confined(text)
    }

    private static func isSnap(_ name: String) -> Bool {
        CallerName.snap(label: name) != nil && !name.contains(" ") && !name.holds("//&")
    }

    private static func seLinuxType(_ text: String) -> String? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count >= 3, !text.hasPrefix(":"), !text.hasSuffix(")") else { return nil }
        return String(parts[2])
    }

    private static let confiningModes: Set<String> = ["enforce", "kill", "user", "mixed"]
    private static let unconfinedTypes: Set<String> = [
        "unconfined_t", "unconfined_service_t", "initrc_t", "kernel_t", "init_t",
    ]
    private static let containerTypes: Set<String> = ["container_t", "spc_t", "container_init_t", "svirt_lxc_net_t"]
}
