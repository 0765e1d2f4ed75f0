import ArgumentParser
import BrokerRPC
import BrokerValues

/// Which sandbox gets a socket, and what for.
struct SandboxOptions: ParsableArguments {
    @Option(help: ArgumentHelp("What makes the sandbox, as in bubblewrap, podman or ssh.", valueName: "name"))
    var engine: String

    @Option(
        help: ArgumentHelp("What the sandbox is called: ENGINE:ID is its name in grants and logs.", valueName: "id"))
    var id: String

    @Option(help: ArgumentHelp("Tells runs of the same sandbox apart in lists.", valueName: "name"))
    var instance: String?

    @Option(
        name: .customLong("app"),
        help: ArgumentHelp(
            "The only app that it may use, without being asked about; may be repeated.",
            discussion: "Without it: apps that list it, and what a person grants.", valueName: "name"),
        completion: LiveCompletion.apps)
    var apps: [String] = []

    @Option(
        name: .customLong("right"),
        help: ArgumentHelp(
            "token (tokens without a person, the default), accounts or interactive; may be repeated.",
            valueName: "right"))
    var rights: [SandboxRight] = []

    @Option(name: .customLong("for"), help: ArgumentHelp("How long at most, as in 10m, 12h or 30d.", valueName: "time"))
    var lifetime: TimeSpan?

    var params: OpenSandbox.Params {
        OpenSandbox.Params(
            Sandbox(
                engine: engine, id: id, instance: instance, apps: apps.isEmpty ? nil : apps,
                rights: rights.isEmpty ? [.token] : rights),
            lifetime: lifetime?.seconds)
    }
}

extension SandboxRight: ExpressibleByArgument {}
