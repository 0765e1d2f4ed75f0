import BrokerValues

package enum ListSandboxes: AdministrationMethod {
    package static let name = "sandboxes.list"
    package static let summary = "Lists the sandboxes with a socket of their own."
    package static let description = "The oldest first."
    package static let worksLocked = true
    package static let isIdempotent = true
    package static let errors: [ErrorKind] = [.accessDenied]
    package static let resultName = "sandboxes"
    package typealias Params = Empty

    package struct Result: MessageObject {
        package var sandboxes: [OpenedSandbox] = []
        package init() {}
        package init(sandboxes: [OpenedSandbox]) { self.sandboxes = sandboxes }
        package static let members: [Member<Result>] = [
            .required("sandboxes", \.sandboxes, "The open sandboxes.")
        ]
    }

    package struct OpenedSandbox: MessageObject, Equatable {
        package var handle = ""
        package var path = ""
        package var doors: [OpenDoor]?
        package var sandbox = Sandbox(engine: "", id: "", rights: [])
        package var openedBy = CallerIdentity()
        package var openedOn: NumericDate = 0
        package var expiresOn: NumericDate?

        package init() {}

        package static let componentName: String? = "OpenedSandbox"
        package static let members: [Member<OpenedSandbox>] =
            [
                .required("handle", \.handle, "For sandboxes.close."),
                .required("path", \.path, "The socket."),
                .optional("doors", \.doors, "Sockets next to it for programs that do not speak this protocol."),
                .required("engine", \.sandbox.engine, "The engine that makes the sandbox."),
                .required("id", \.sandbox.id, "The engine's name for it."),
            ] + Sandbox.others.inside(\.sandbox) + [
                .required("rights", \.sandbox.rights, "The rights of the socket."),
                .defaulted(
                    "anyUid", \.sandbox.acceptsAnyUID, "Whether programs of any uid may connect.", to: false),
                .required("openedBy", \.openedBy, "The caller that opened it."),
                .required("openedOn", \.openedOn, "Seconds since 1970."),
                .optional("expiresOn", \.expiresOn, "Seconds since 1970; absent: it has no end of its own."),
            ]
    }
}
