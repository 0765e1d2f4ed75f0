/// A sandbox that has a socket of its own, as whoever opened the socket named it: who comes by it is this caller.
package struct Sandbox: Sendable, Hashable {
    /// What makes it: `bubblewrap`, `podman`, `ssh`. No colon is in it.
    package var engine: String
    /// What the engine calls it.
    package var id: String
    /// Tells runs of the same sandbox apart; for people, it carries no rights.
    package var instance: String?
    /// The only apps that it may name, as if they listed it; nil leaves that to lists, rules and grants.
    package var apps: [String]?
    package var rights: [SandboxRight]
    /// Whether whoever reaches the socket may connect: in a container, programs of other users come with subordinate uids.
    package var acceptsAnyUID = false

    package init(engine: String, id: String, instance: String? = nil, apps: [String]? = nil, rights: [SandboxRight]) {
        self.engine = engine
        self.id = id
        self.instance = instance
        self.apps = apps
        self.rights = rights
    }

    /// What the broker calls it: the id of its callers.
    package var name: String { "\(engine):\(id)" }

    /// The engine of sandboxes on other machines.
    package static let sshEngine = "ssh"

    /// Whether its programs run on another machine: a page for the person is opened here.
    package var isElsewhere: Bool { engine == Self.sshEngine }

    /// Lower-case letters, digits, dots and hyphens, a letter first.
    package static func isEngine(_ text: String) -> Bool {
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        let isPlain = text.utf8.allSatisfy {
            letters.contains($0) || (0x30...0x39).contains($0) || ".-".utf8.contains($0)
        }
        return isPlain && (1...32).contains(text.utf8.count) && text.utf8.first.map(letters.contains) == true
    }

    /// Engines that nobody may name: the broker's own names begin with them.
    package static let reservedEngines: Set<String> = [
        String(CallerIdentity.unnamedSandbox.dropLast()), "system", "user",
    ]
}

/// What a sandbox may do by its own socket. Nothing of it is administration.
package enum SandboxRight: String, Codable, Sendable, CaseIterable {
    /// Tokens that need no person, and proofs for them.
    case token
    /// See and sign out the accounts of an app, and be told of them.
    case accounts
    /// Sign people in, in a browser or with a code.
    case interactive
}
