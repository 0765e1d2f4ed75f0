/// A sandbox with its own socket, as named by the program that opened the socket: every client of the socket is this caller.
package struct Sandbox: Sendable, Hashable {
    /// The program that creates it: `bubblewrap`, `podman`, `ssh`. Contains no colon.
    package var engine: String
    /// The engine's name for it.
    package var id: String
    /// Distinguishes runs of the same sandbox; for display, without rights.
    package var instance: String?
    /// The only apps that it may name, as if they listed it; `nil` leaves that to lists, rules and grants.
    package var apps: [String]?
    package var rights: [SandboxRight]
    /// Whether all clients of the socket may connect: in a container, programs of other users have subordinate uids.
    package var acceptsAnyUID = false

    package init(engine: String, id: String, instance: String? = nil, apps: [String]? = nil, rights: [SandboxRight]) {
        self.engine = engine
        self.id = id
        self.instance = instance
        self.apps = apps
        self.rights = rights
    }

    /// The broker's name for it: the id of its callers.
    package var name: String { "\(engine):\(id)" }

    /// The engine of sandboxes on other machines.
    package static let sshEngine = "ssh"

    /// Whether its programs run on another machine: a page for the user is opened here.
    package var isElsewhere: Bool { engine == Self.sshEngine }

    /// Lower-case letters, digits, dots and hyphens, beginning with a letter.
    package static func isEngine(_ text: String) -> Bool {
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        let isPlain = text.utf8.allSatisfy {
            letters.contains($0) || (0x30...0x39).contains($0) || ".-".utf8.contains($0)
        }
        return isPlain && (1...32).contains(text.utf8.count) && text.utf8.first.map(letters.contains) == true
    }

    /// Engines that may not be used: the broker's own names begin with them.
    package static let reservedEngines: Set<String> = [
        String(CallerIdentity.unnamedSandbox.dropLast()), "system", "user",
    ]
}

/// The rights of a sandbox on its own socket. None of them is administration.
package enum SandboxRight: String, Codable, Sendable, CaseIterable {
    /// Tokens without user interaction, and proofs for them.
    case token
    /// Read and sign out the accounts of an app, and get notifications about them.
    case accounts
    /// Sign users in, in a browser or with a code.
    case interactive
}
