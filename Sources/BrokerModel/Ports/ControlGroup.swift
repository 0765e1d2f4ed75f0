/// The cgroup of a process (cgroups(7)), and what its path can prove. Pure.
///
/// Below `user@UID.service` every process of the user can make groups of any name and move itself there: a name is evidence
/// against a process being an ordinary one, and never an identity. Only root places processes elsewhere.
package struct ControlGroup: Sendable, Equatable {
    package let path: String

    package init(path: String) { self.path = path }

    /// The group in the unified hierarchy, or else in systemd's own one; the root where there is neither.
    ///
    /// - Parameter file: `/proc/PID/cgroup`.
    package init(file: some StringProtocol) {
        let lines = file.split(separator: "\n")
        let line =
            lines.first { $0.hasPrefix("0::/") } ?? lines.first { $0.contains(":name=systemd:/") }
        path = line.map { String($0.drop { $0 != "/" }) } ?? "/"
    }

    private var components: [Substring] { path.split(separator: "/") }

    /// A service of the system's manager, if the group is exactly that of one: a group that the service made within its own
    /// may be a sandbox.
    package var systemService: String? {
        let components = components
        guard components.first == "system.slice", let last = components.last, last.hasSuffix(".service"),
            components.dropLast().allSatisfy({ $0.hasSuffix(".slice") })
        else { return nil }
        return String(last)
    }

    /// The unit of the user's manager that the process says it is in. Chosen by the user's processes: a hint.
    package var userUnit: String? {
        let components = components
        guard let manager = components.firstIndex(where: { $0.hasPrefix("user@") && $0.hasSuffix(".service") }) else {
            return nil
        }
        return components[(manager + 1)...].first { !$0.hasSuffix(".slice") }.map(String.init)
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

    /// The innermost group, to show.
    package var name: String { components.last.map(String.init) ?? "/" }
}
