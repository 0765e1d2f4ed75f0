import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues

struct SandboxesCommand: Noun {
    static var about: About {
        About(
            "sandboxes", "Give sandboxes sockets of their own, so that the broker can identify them.",
            """
            For a single command, use brokerctl run-in.

            Examples:
              brokerctl sandboxes add --engine podman --id build --app ci
              brokerctl sandboxes list
            """)
    }

    static var subcommands: [any Command.Type] {
        [AddSandboxCommand.self, ListSandboxesCommand.self, RemoveSandboxCommand.self]
    }
}

struct AddSandboxCommand: Subcommand {
    static var about: About {
        About(
            "add", "Make a socket for a sandbox.",
            """
            Any program that connects to it counts as that sandbox, so give its folder to no other. The socket stays \
            until it is removed, its lifetime ends, or the broker stops.

            Examples:
              brokerctl sandboxes add --engine podman --id build --app ci
              brokerctl sandboxes add --engine podman --id web --app ci --any-uid
              brokerctl sandboxes add --engine firejail --id web --app ci --for 12h
            """)
    }

    var global = GlobalOptions()
    var sandbox = SandboxOptions()
    var anyUid = false

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.group(&sandbox)
        arguments.flag(
            "any-uid", &anyUid,
            "Let programs of other users in the container connect, too: any program that reaches the socket is the sandbox."
        )
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        var params = sandbox.params
        params.sandbox.acceptsAnyUID = anyUid
        try context.tell(OpenSandbox.self, params) {
            SandboxText.opened($0, as: sandbox.params.sandbox, in: context.output.layout)
        }
    }
}

struct ListSandboxesCommand: Subcommand {
    static var about: About {
        About(
            "list", "List the sandboxes that have sockets of their own.",
            """
            Examples:
              brokerctl sandboxes list
            """)
    }

    var global = GlobalOptions()

    func run(in context: CommandContext) throws(BrokerClientError) {
        try context.tell(ListSandboxes.self, .init()) { answer in
            let all = answer.sandboxes
            return SandboxText.list(all, now: Output.now, in: context.output.layout)
        }
    }
}

struct RemoveSandboxCommand: Subcommand {
    static var about: About {
        About(
            "remove", "End a sandbox's socket, and its connections.",
            """
            Examples:
              brokerctl sandboxes remove k7pm2xq4wz
            """)
    }

    var global = GlobalOptions()
    var handle = ""

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.argument("handle", &handle, "The handle, from brokerctl sandboxes list.")
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        try context.tell(CloseSandbox.self, .init(handle: handle)) { _ in "Removed \(handle).".clean + "\n" }
    }
}
