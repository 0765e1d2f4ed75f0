import BrokerValues

/// A sandbox with a socket for as long as the broker runs: `[sandbox.NAME]`.
extension TableKey<Sandbox> {
    static var all: [TableKey] {
        [
            text("engine", \.engine, "The sandbox's engine, such as `podman` or `systemd`; needed."),
            text("id", \.id, "Its name in the engine; none: NAME."),
            words("apps", \.apps, "The only apps that it may use, without asking the user. None: like any sandbox."),
            words(
                "rights", "`token` (the default), `accounts`, `interactive`.",
                type: [
                    "type": "array",
                    "items": .object(ValueSchema.choice(SandboxRight.allCases.map(\.rawValue))),
                    "minItems": 1, "uniqueItems": true,
                ]
            ) {
                words, sandbox throws(SettingRefusal) in
                sandbox.rights = []
                for word in words {
                    guard let right = SandboxRight(rawValue: word), !sandbox.rights.contains(right) else {
                        let all = SandboxRight.allCases.map(\.rawValue).joined(separator: ", ")
                        throw SettingRefusal(.outOfRange, "\"\(word)\" is not one of \(all), each once")
                    }
                    sandbox.rights.append(right)
                }
            },
            boolean(
                "any_uid", \.acceptsAnyUID,
                "Whether programs of other users in the container are the sandbox, too. `false`: those only that the kernel shows with your uid."
            ),
        ]
    }
}

package enum SandboxTable {
    /// The table of docs/configuration.md, in Markdown; a test compares the two.
    package static var documentation: String { TableKey<Sandbox>.documentation(of: TableKey<Sandbox>.all) }

    static func assign(_ entry: TableEntry, to result: inout LoadedConfiguration) throws(ConfigurationError) {
        let new = Sandbox(engine: "", id: entry.table, rights: [.token])
        try TableKey.assign(
            entry.value, to: entry.key, of: "a sandbox", among: TableKey<Sandbox>.all, at: entry.origin,
            &result.configuration.sandboxes[entry.table, default: new])
        for place in ["sandbox.\(entry.table)", "sandbox.\(entry.table).\(entry.key)"] {
            result.origins[place] = entry.origin
        }
    }

    /// The checks that need a whole table.
    static func check(_ result: LoadedConfiguration) throws(ConfigurationError) {
        for (name, sandbox) in result.configuration.sandboxes.sorted(by: { $0.key < $1.key }) {
            guard let (key, text) = mistake(in: sandbox, named: name) else { continue }
            let ofKey = key.flatMap { result.origins["sandbox.\(name).\($0)"] }
            throw ConfigurationError(
                .outOfRange, key.map { "\($0): " + text } ?? text, at: ofKey ?? result.origin(of: "sandbox.\(name)"))
        }
    }

    /// The lines that `--check-config` prints.
    static func report(_ loaded: LoadedConfiguration) -> [String] {
        loaded.configuration.sandboxes.sorted { $0.key < $1.key }.map { name, sandbox in
            "sandbox.\(name) = \(sandbox.name)  # \(loaded.origin(of: "sandbox.\(name)"))"
        }
    }

    /// The mistake in a sandbox's table, and its key, if it has one; `nil` if there is none. The name is also that of a folder.
    private static func mistake(in sandbox: Sandbox, named name: String) -> (key: String?, text: String)? {
        let plain = "up to 32 lower-case letters, digits, dots and hyphens, a letter first"
        guard Sandbox.isEngine(name) else { return (nil, "a sandbox's table is named by \(plain)") }
        guard Sandbox.isEngine(sandbox.engine) else { return ("engine", "is needed, \(plain)") }
        guard !Sandbox.reservedEngines.contains(sandbox.engine) else {
            return ("engine", "\(sandbox.engine) is reserved for sandboxes that the broker finds itself")
        }
        let isVisible = sandbox.id.utf8.allSatisfy { (0x21...0x7e).contains($0) }
        guard isVisible, (1...128).contains(sandbox.id.utf8.count) else {
            return ("id", "is up to 128 visible characters without blanks")
        }
        guard !sandbox.rights.isEmpty else { return ("rights", "names none") }
        return sandbox.apps?.isEmpty == true ? ("apps", "names none; leave it out, or name some") : nil
    }
}
