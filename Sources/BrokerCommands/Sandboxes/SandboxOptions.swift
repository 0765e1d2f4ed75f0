import BrokerCommandLine
import BrokerRPC
import BrokerValues

/// The sandbox that gets a socket, and its rights.
struct SandboxOptions: ArgumentGroup {
    var engine = ""
    var id = ""
    var instance: String?
    var reach = SandboxReach()

    mutating func declare(in arguments: inout Arguments) {
        arguments.option(
            "engine", &engine, value: "name", isRequired: true,
            "The sandbox's engine, such as bubblewrap, podman or ssh.")
        arguments.option(
            "id", &id, isRequired: true, "The sandbox's id: ENGINE:ID is its name in grants and logs.")
        arguments.option("instance", &instance, value: "name", "Tells runs of the same sandbox apart in lists.")
        arguments.group(&reach)
    }

    var params: OpenSandbox.Params { reach.params(of: Sandbox(engine: engine, id: id, instance: instance, rights: [])) }
}

/// The rights of a sandbox, and their lifetime.
struct SandboxReach: ArgumentGroup {
    var apps: [String] = []
    var rights: [SandboxRight] = []
    var lifetime: TimeSpan?

    mutating func declare(in arguments: inout Arguments) {
        arguments.list(
            "app", &apps, value: "name", "The only app that it may use, without asking the user; may be repeated.",
            "Without it: apps that list it, and what a person grants.", completing: LiveCompletion.apps)
        arguments.list(
            "right", &rights, "token (tokens without a person, the default), accounts or interactive; may be repeated.")
        arguments.option("for", &lifetime, value: "time", "The longest lifetime, as in 10m, 12h or 30d.")
    }

    func params(of sandbox: Sandbox) -> OpenSandbox.Params {
        var sandbox = sandbox
        sandbox.apps = apps.isEmpty ? nil : apps
        sandbox.rights = rights.isEmpty ? [.token] : rights
        return OpenSandbox.Params(sandbox, lifetime: lifetime?.seconds)
    }
}

extension SandboxRight: ArgumentValue {
    package static let meanings = [
        "token": "have tokens without a person", "accounts": "see who is signed in",
        "interactive": "ask people to sign in",
    ]
}
