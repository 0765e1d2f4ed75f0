/// The typed names of callers in lists, grants and facts (docs/decisions/0022). The type shows the source of a name, so that a
/// user's unit does not pass for one of the system, nor a Flatpak for a snap.
package enum CallerName {
    /// A unit of the system's manager.
    package static func system(unit: String) -> String { "system:" + unit }
    /// A unit of the user's manager.
    package static func user(unit: String) -> String { "user:" + unit }
    package static func flatpak(_ application: String) -> String { "flatpak:" + application }

    /// - Parameter label: `snap.NAME.APP`, as AppArmor names a snap's profile. The apps of one snap share their data, and are one
    ///   caller.
    package static func snap(label: String) -> String? {
        let parts = label.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count >= 3, parts[0] == "snap", !parts[1].isEmpty else { return nil }
        return "snap:\(parts[1])"
    }

    /// Whether a unit's own name could be read as a typed one: it may contain colons.
    package static func looksTyped(unit: String) -> Bool {
        [system(unit: ""), user(unit: "")].contains(where: unit.hasPrefix)
    }

    /// A sandbox's name in lists and grants. An entry without a type comes from an earlier version, or from a user who typed it:
    /// an application's id is a Flatpak's, and a name like a snap's profile is the snap's.
    package static func sandbox(_ entry: String) -> String {
        entry.utf8.contains(UInt8(ascii: ":")) ? entry : snap(label: entry) ?? flatpak(entry)
    }

    /// The entry of an earlier version that stands for a Flatpak: its application id.
    ///
    /// - Parameter name: a typed name.
    /// - Returns: `nil` if no entry without a type stands for it.
    package static func untyped(_ name: String) -> String? {
        let type = flatpak("")
        guard name.hasPrefix(type) else { return nil }
        let application = String(name.dropFirst(type.count))
        return sandbox(application) == name ? application : nil
    }
}

extension CallerIdentity {
    /// The identity with its typed name: grants of earlier versions lack the type.
    package var typed: CallerIdentity {
        switch tier {
        case .sandboxed: CallerIdentity(tier: tier, id: CallerName.sandbox(id))
        case .systemInstalled where id.hasSuffix(".service") && !id.hasPrefix("/") && !CallerName.looksTyped(unit: id):
            CallerIdentity(tier: tier, id: CallerName.system(unit: id))
        case .confined, .systemInstalled, .unknown, .unidentified: self
        }
    }
}
