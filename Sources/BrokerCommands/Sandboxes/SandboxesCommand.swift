import ArgumentParser
import BrokerClient
import BrokerRPC
import BrokerValues

struct SandboxesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sandboxes", abstract: "Give sandboxes sockets of their own, so that the broker knows who asks.",
        discussion: """
            For the time of one command there is brokerctl run-in.

            Examples:
              brokerctl sandboxes add --engine podman --id build --app ci
              brokerctl sandboxes list
            """,
        subcommands: [AddSandboxCommand.self, ListSandboxesCommand.self, RemoveSandboxCommand.self])
}

struct AddSandboxCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Make a socket for a sandbox.",
        discussion: """
            Whoever connects to it is that sandbox, so give its folder to no other. It stays until it is removed, its time is \
            over, or the broker stops.

            Examples:
              brokerctl sandboxes add --engine podman --id build --app ci
              brokerctl sandboxes add --engine podman --id web --app ci --any-uid
              brokerctl sandboxes add --engine ssh --id devbox --app git --for 12h
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sandbox: SandboxOptions

    @Flag(
        help:
            "Let programs of other users in the container connect, too: any program that reaches the socket is the sandbox."
    )
    var anyUid = false

    func run(in context: CommandContext) throws(BrokerClientError) {
        var params = sandbox.params
        params.sandbox.acceptsAnyUID = anyUid
        try context.tell(OpenSandbox.self, params) {
            SandboxText.opened($0, as: sandbox.params.sandbox, in: context.output.layout)
        }
    }
}

struct ListSandboxesCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the sandboxes that have sockets of their own.",
        discussion: """
            Examples:
              brokerctl sandboxes list
            """)

    @OptionGroup var global: GlobalOptions

    func run(in context: CommandContext) throws(BrokerClientError) {
        try context.tell(ListSandboxes.self, .init()) { answer in
            let all = answer.sandboxes
            return SandboxText.list(all, now: Output.now, in: context.output.layout)
        }
    }
}

struct RemoveSandboxCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "End a sandbox's socket, and its connections.",
        discussion: """
            Examples:
              brokerctl sandboxes remove k7pm2xq4wz
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The handle, from brokerctl sandboxes list.")
    var handle: String

    func run(in context: CommandContext) throws(BrokerClientError) {
        try context.tell(CloseSandbox.self, .init(handle: handle)) { _ in "Removed \(handle).\n".clean(keeping: "\n") }
    }
}
