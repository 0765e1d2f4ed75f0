import BrokerValues

package enum GetBrokerStatus: PersonMethod {
    package static let name = "broker.status"
    package static let summary = "The broker's state."
    package static let description =
        "Counts and modes, and the identified caller; no account, app or token is named."
    package static let isIdempotent = true
    package static let worksLocked = true
    package static let errors: [ErrorKind] = []
    package static let resultName = "status"
    package typealias Params = Empty

    package struct Result: MessageObject, Equatable {
        package var version = ""
        package var `protocol`: Int64 = 1
        package var uptime: Int64 = 0
        package var mode = Mode.user
        package var locked = false
        package var vault = Vault()
        package var connections: Int64 = 0
        package var refreshesInFlight: Int64 = 0
        package var device = Device()
        package var configuration: Configuration?
        package var caller: Caller?
        package var partitions: Int64?
        package var doors: [OpenDoor]?

        package init() {}

        package static let members: [Member<Result>] = [
            .required("version", \.version, "Version of the broker."),
            .required("protocol", \.protocol, "Version of this protocol."),
            .required("uptime", \.uptime, "Seconds since it started."),
            .required("mode", \.mode, "user: serves the uid it runs as; system: serves many."),
            .required("locked", \.locked, "Whether the vault is locked."),
            .required("vault", \.vault, "The encrypted cache."),
            .required("connections", \.connections, "Clients connected now."),
            .required("refreshesInFlight", \.refreshesInFlight, "Refreshes the providers have not answered yet."),
            .required("device", \.device, "The kind of machine."),
            .optional(
                "configuration", \.configuration, "Where its settings come from; absent for a sandbox."),
            .optional("caller", \.caller, "The caller, as the broker identifies it."),
            .optional(
                "partitions", \.partitions, "How many users have something in the vault; for root, in system mode."),
            .optional(
                "doors", \.doors, "Sockets for programs that do not speak this protocol; absent for a sandbox."),
        ]
    }

    package struct Caller: MessageObject, Equatable {
        package var identity = CallerIdentity()
        package var administers = false
        package var rights: [SandboxRight]?

        package init() {}
        package init(_ identity: CallerIdentity, administers: Bool, rights: [SandboxRight]?) {
            self.identity = identity
            self.administers = administers
            self.rights = rights
        }

        package static let members: [Member<Caller>] =
            CallerIdentity.members.inside(\.identity) + [
                .required("administers", \.administers, "Whether it may administer more than one app."),
                .optional(
                    "rights", \.rights, "The rights of its sandbox's socket; absent: it came by the common socket."),
            ]
    }

    package enum Mode: String, WireChoice {
        case user, system
    }

    package struct Vault: MessageObject, Equatable {
        package var path = ""
        package var keySource = ""
        package var records: Int64 = 0
        package var quarantined: Int64 = 0
        package var missing: Int64 = 0
        package var rolledBack = false

        package init() {}

        package static let members: [Member<Vault>] = [
            .required("path", \.path, "Its file; for a sandbox without its folder."),
            .required("keySource", \.keySource, "Where its key comes from."),
            .required("records", \.records, "How many records it holds."),
            .required("quarantined", \.quarantined, "How many were found damaged or out of date, and set aside."),
            .required("missing", \.missing, "How many were found to be gone."),
            .required(
                "rolledBack", \.rolledBack,
                "Whether an earlier state was put in its place; cache.acceptRestore says that this is right."),
        ]
    }

    package struct Device: MessageObject, Equatable {
        package var mode = DeviceMode.private
        package init() {}
        package static let members: [Member<Device>] = [
            .required("mode", \.mode, "shared: a sign-out is for all apps.")
        ]
    }

    package struct Configuration: MessageObject, Equatable {
        package var files: [String] = []
        package var readOn: NumericDate = 0
        package var reads: Int64 = 1
        package var pending: [String] = []

        package init() {}
        package init(files: [String], readOn: NumericDate) {
            self.files = files
            self.readOn = readOn
        }

        package static let members: [Member<Configuration>] = [
            .required(
                "files", \.files, "The files that it reads, strongest first; one that is missing counts for nothing."),
            .required("readOn", \.readOn, "When it read them last, and took what they say."),
            .required("reads", \.reads, "How often it has read them since it started."),
            .required("pending", \.pending, "Settings whose new value takes effect after a restart only."),
        ]
    }

    package enum DeviceMode: String, WireChoice {
        case `private`, shared
    }
}
