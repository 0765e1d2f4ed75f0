/// The cgroup of a process (cgroups(7)), and the evidence in its path. Pure.
///
/// Below `user@UID.service` every process of the user can make groups of any name and move itself there: a name is evidence
/// against a process being an ordinary one, and never an identity. Only root can move processes elsewhere.
package struct ControlGroup: Sendable, Equatable {
    package let path: String

    package init(path: String) { self.path = path }

    /// The group in the unified hierarchy, or else in systemd's own one; the root if there is neither.
    ///
    /// - Parameter file: `/proc/PID/cgroup`. Compared by bytes, as the kernel does: anyone can choose names in it, and a
    ///   combining mark at the beginning of a name merges with the slash before it.
    package init(file: String) {
        let lines = file.utf8.split(separator: UInt8(ascii: "\n"))
        let line =
            lines.first { $0.starts(with: "0::/".utf8) }
            ?? lines.first { $0.drop { $0 != UInt8(ascii: ":") }.starts(with: ":name=systemd:/".utf8) }
        path = line.map { String(Substring($0.drop { $0 != UInt8(ascii: "/") })) } ?? "/"
    }

    private var components: [Substring] { path.utf8.split(separator: UInt8(ascii: "/")).map { Substring($0) } }

    /// The system manager's service, if the group is exactly that of a service: a group that the service made within its own may
    /// be a sandbox.
    package var systemService: String? {
        let components = components
        guard components.first == "system.slice", let last = components.last, last.hasSuffix(".service"),
            components.dropLast().allSatisfy({ $0.hasSuffix(".slice") })
        else { return nil }
        return String(last)
    }

    /// The unit of the user's manager, according to the group's name. The user's processes can choose it: a hint.
    package var userUnit: String? {
        let components = components
        guard let manager = components.firstIndex(where: { $0.hasPrefix("user@") && $0.hasSuffix(".service") }) else {
            return nil
        }
        return components[(manager + 1)...].first { !$0.hasSuffix(".slice") }.map(String.init)
    }

    /// The path up to the first scope or service, or to that of the user's manager if the group is below it: groups within a
    /// unit are made by its processes. The whole path if it has no unit.
    package var unitPath: String {
        let components = components
        let manager = components.firstIndex { $0.hasPrefix("user@") && $0.hasSuffix(".service") }
        let ofUser = manager.map { components[($0 + 1)...] } ?? components[...]
        guard let unit = ofUser.firstIndex(where: { $0.hasSuffix(".scope") || $0.hasSuffix(".service") }) else {
            return path
        }
        return components[...unit].map { "/\($0)" }.joined()
    }

    /// The name of a sandbox or container that made the group, if it looks like one.
    package var sandboxName: String? {
        let components = components
        if components.first == "machine.slice" { return components.last.map(String.init) }
        return components.first { name in
            Self.sandboxPrefixes.contains(where: name.hasPrefix) || name == "docker" || name == "lxc"
        }.map(String.init)
    }

    private static let sandboxPrefixes = [
        "app-flatpak-", "flatpak-", "snap.", "libpod-", "podman-", "docker-", "crio-", "cri-containerd-", "lxc.",
        "machine-",
    ]

    /// The whole path, or the part after the user's slice. It distinguishes groups; no part of it does, because names are chosen
    /// by the group's creator, and engines give all of theirs one name (podman: `container`).
    ///
    /// - Returns: nil if it is too long.
    package func place(of user: UInt32) -> String? {
        let slice = "/user.slice/user-\(user).slice/".utf8
        let place = path.utf8.starts(with: slice) ? path.utf8.dropFirst(slice.count) : path.utf8[...]
        return place.count <= 1_024 ? String(Substring(place)) : nil
    }
}
