import BrokerValues
import Glibc

/// Identifies the Flatpak application of a sandboxed process.
///
/// The file `/.flatpak-info` inside of the sandbox names it, but any container can have such a file. So the name counts only if
/// Flatpak's own record on the host is about the same mount namespace.
struct FlatpakInstances: SandboxAttestor {
    private let folder: String?

    /// - Parameter runtimeDirectory: `$XDG_RUNTIME_DIR`.
    init(runtimeDirectory: String?) {
        folder = runtimeDirectory.map { $0 + "/.flatpak" }
    }

    /// Flatpak's records are checked first. A sandbox without one is not examined: its list of mounts can be arbitrarily long.
    func name(of process: borrowing ProcessFolder, uid: UInt32) -> String? {
        guard let folder, let namespace = process.link("ns/mnt").value,
            let record = Records(in: folder, of: uid).instance(in: namespace),
            let inside = Self.info(inside: process).flatMap(FlatpakInfo.init),
            inside == record.info, inside.instance == record.name
        else { return nil }
        return CallerName.flatpak(inside.application)
    }

    /// The records of one person's instances in Flatpak's folder in the runtime directory.
    private struct Records {
        /// The number of entries of the folder that are read at most.
        private static let most = 512

        let folder: String
        let uid: UInt32
        private let mounts = LocalMounts.own()

        init(in folder: String, of uid: UInt32) { (self.folder, self.uid) = (folder, uid) }

        /// The instance with this mount namespace.
        func instance(in namespace: String) -> (name: String, info: FlatpakInfo)? {
            for name in names {
                guard let text = file("\(name)/bwrapinfo.json"),
                    let bubblewrap = JSONObject(json: text).flatMap(BubblewrapInfo.init),
                    namespace == "mnt:[\(bubblewrap.mountNamespace)]",
                    // A namespace's number is reused once the namespace is empty: a record left behind proves nothing.
                    let first = ProcessFolder.open(pid: bubblewrap.firstProcess),
                    first.link("ns/mnt").value == namespace,
                    let info = file("\(name)/info").flatMap({ FlatpakInfo(String(decoding: $0, as: UTF8.self)) })
                else { continue }
                return (name, info)
            }
            return nil
        }

        /// The names of the instances, which are numbers.
        private var names: [String] {
            guard let root = PathHandle.root(), let place = root.descend(folder, isLocal: mounts.contains) else {
                return []
            }
            return place.names(isLocal: mounts.contains, atMost: Self.most).filter { name in
                name.utf8.allSatisfy { (0x30...0x39).contains($0) }
            }
        }

        /// A file of Flatpak's own, owned by the person.
        private func file(_ name: String) -> [UInt8]? {
            guard let root = PathHandle.root(),
                let file = root.descend("\(folder)/\(name)", isLocal: mounts.contains), file.file.uid == uid
            else { return nil }
            return file.contents(limit: FlatpakInstances.limit, isLocal: mounts.contains)
        }
    }

    private struct BubblewrapInfo {
        /// The pid outside of the sandbox.
        var firstProcess: Int32
        var mountNamespace: Int64

        init?(_ record: JSONObject) {
            guard let first = record["child-pid"]?.integerValue.flatMap(Int32.init(exactly:)),
                let namespace = record["mnt-namespace"]?.integerValue
            else { return nil }
            firstProcess = first
            mountNamespace = namespace
        }
    }

    private static let limit = 1 << 16

    /// The text of `/.flatpak-info` inside of the sandbox; `nil` unless the file and its root are in memory, as Flatpak creates
    /// them: a mount of the peer's own making could belong to a server that never answers. The list of mounts is read while the
    /// handle is held.
    private static func info(inside process: borrowing ProcessFolder) -> String? {
        guard let root = PathHandle.root(of: process), LocalMounts.inMemory(of: process).contains(root.file.mount),
            let file = root.place(".flatpak-info", isLocal: { _ in true })
        else { return nil }
        let mounts = LocalMounts.inMemory(of: process)
        return file.contents(limit: limit, isLocal: mounts.contains).map { String(decoding: $0, as: UTF8.self) }
    }
}

/// The parts of flatpak-metadata(5) that name the application and its instance. Pure.
package struct FlatpakInfo: Sendable, Equatable {
    package var application: String
    package var instance: String

    package init?(_ text: String) {
        var group = ""
        var values: [String: Substring] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("[") {
                group = String(line)
            } else if let equals = line.firstIndex(of: "="), group == "[Application]" || group == "[Instance]" {
                let key = group + line[..<equals]
                // With a duplicate key, the intended value is unknown.
                guard values[key] == nil else { return nil }
                values[key] = line[line.index(after: equals)...]
            }
        }
        guard let name = values["[Application]name"], Self.isApplicationID(name),
            let instance = values["[Instance]instance-id"], !instance.isEmpty
        else { return nil }
        application = String(name)
        self.instance = String(instance)
    }

    /// Whether it is a name in reverse-DNS form: three parts or more, separated by dots, of letters, digits, `_` and `-`.
    private static func isApplicationID(_ name: Substring) -> Bool {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return name.utf8.count <= 255 && parts.count >= 3
            && parts.allSatisfy { part in
                !part.isEmpty && part.utf8.allSatisfy { $0 == 0x2d || $0 == 0x5f || $0.isASCIILetterOrDigit }
            }
    }
}
