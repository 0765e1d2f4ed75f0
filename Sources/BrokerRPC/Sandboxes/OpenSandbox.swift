import BrokerValues

package enum OpenSandbox: AdministrationMethod {
    package static let name = "sandboxes.open"
    package static let summary = "Makes a socket for one sandbox: every caller on it is that sandbox."
    package static let description = """
        The sandbox's sockets are alone in a folder, to be mounted into the sandbox. Its callers are engine:id, tier sandboxed, regardless \
        of other facts about them; they never administer, and open no further socket. The socket ends when it is closed, when \
        its lifetime ends, when the broker stops, and with whileConnected together with the connection that opened it; its \
        connections are cut off then. Only processes of the user who opened it may connect.
        """
    package static let errors: [ErrorKind] = [
        .invalidParameter, .appNotFound, .accessDenied, .throttled, .unsupported,
    ]
    package static let resultName = "sandbox"
    /// Always needed: the socket speaks for the sandbox's name from then on, also with rights that the name gets later.
    package static func presence(for params: Params) -> PresenceNeed {
        let name = params.sandbox.name
        return params.sandbox.apps.map { .always(caller: name, apps: $0) } ?? .sandbox(name)
    }

    package struct Params: ParamsObject {
        package var sandbox = Sandbox(engine: "", id: "", rights: [.token])
        package var lifetime: Int64?
        package var isWhileConnected = false

        package init() {}
        package init(_ sandbox: Sandbox, lifetime: Int64? = nil, isWhileConnected: Bool = false) {
            self.sandbox = sandbox
            self.lifetime = lifetime
            self.isWhileConnected = isWhileConnected
        }

        package static let members: [Member<Params>] =
            [
                .required(
                    "engine", \.sandbox.engine, "The engine that makes the sandbox, such as bubblewrap, podman or ssh.",
                    .engine),
                .required("id", \.sandbox.id, "The engine's name for it.", .word(atMost: 128)),
            ] + Sandbox.others.inside(\.sandbox) + [
                .defaulted(
                    "rights", \.sandbox.rights,
                    "token: tokens without a person; accounts: the accounts of an app; interactive: signing in.",
                    to: [.token]),
                .defaulted(
                    "anyUid", \.sandbox.acceptsAnyUID,
                    "True: programs of any uid are the sandbox, as those of other users in a container. Not in system mode.",
                    to: false),
                .optional(
                    "lifetime", \.lifetime, "Seconds. Absent: until it is closed, or the broker stops.",
                    .between(1...315_360_000)),
                .defaulted(
                    "whileConnected", \.isWhileConnected,
                    "True: it ends with this request's connection, and when another process writes on that connection.",
                    to: false),
            ]

        package func check() throws(WireError) {
            guard !Sandbox.reservedEngines.contains(sandbox.engine) else {
                throw WireError(
                    "must not be \"\(sandbox.engine)\", which the broker's own names begin with", field: "engine")
            }
            guard !sandbox.rights.isEmpty else { throw WireError("must name at least one right", field: "rights") }
            guard Set(sandbox.rights).count == sandbox.rights.count else {
                throw WireError("must name each right once", field: "rights")
            }
            guard sandbox.apps?.isEmpty != true else {
                throw WireError("must name at least one app, or be left out", field: "apps")
            }
        }
    }

    package struct Result: MessageObject {
        package var handle = ""
        package var path = ""
        package var doors: [OpenDoor]?

        package init() {}
        package init(handle: String, path: String, doors: [OpenDoor]?) {
            (self.handle, self.path, self.doors) = (handle, path, doors)
        }

        package static let members: [Member<Result>] = [
            .required("handle", \.handle, "For sandboxes.close."),
            .required(
                "path", \.path,
                "The socket. Its folder contains only the sandbox's sockets; mount that folder into the sandbox."
            ),
            .optional("doors", \.doors, "Sockets next to it for programs that do not speak this protocol."),
        ]
    }
}

extension SandboxRight: WireChoice {}

extension Sandbox {
    static let others: [Member<Sandbox>] = [
        .optional("instance", \.instance, "Distinguishes runs of the same sandbox for people.", .word(atMost: 128)),
        .optional(
            "apps", \.apps, "The only apps that it may name; it counts as listed by them. Absent: as any sandbox.",
            .each(.name(atMost: 128), atMost: 64)),
    ]
}

extension Rule<String> {
    fileprivate static var engine: Rule {
        Rule(schema: ["pattern": "^[a-z][a-z0-9.-]{0,31}$"]) { text throws(WireError) in
            guard Sandbox.isEngine(text) else {
                throw WireError("must be 1 to 32 lower-case letters, digits, dots or hyphens, a letter first")
            }
        }
    }
}
