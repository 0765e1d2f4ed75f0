import ArgumentParser
import BrokerClient
import BrokerValues

/// What a person says of an app, when it is made known and when it is changed.
struct AppDescriptionOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The group it shares accounts with.", valueName: "name"))
    var group: String?

    @Option(
        name: .customLong("scope"), parsing: .upToNextOption,
        help: ArgumentHelp("What it usually asks for; may be repeated.", valueName: "scope"))
    var scopes: [String] = []

    @Option(
        name: .customLong("allowed-scope"), parsing: .upToNextOption,
        help: ArgumentHelp(
            "A scope or resource that its tokens may have at most, whatever it asks for; may be repeated. Any, if left out.",
            valueName: "scope"))
    var allowedScopes: [String] = []

    @Option(
        name: .customLong("redirect-uri"),
        help: ArgumentHelp(
            "As registered at the provider; http://127.0.0.1:PORT/ with any free port if left out.", valueName: "uri"))
    var redirectURI: String?

    @Option(
        name: .customLong("executable"),
        help: ArgumentHelp("A program that may act as it; may be repeated.", valueName: "path"))
    var executables: [String] = []

    @Option(
        name: .customLong("unit"),
        help: ArgumentHelp("A systemd unit that may act as it; may be repeated.", valueName: "unit"))
    var units: [String] = []

    @Option(
        name: .customLong("sandbox"),
        help: ArgumentHelp("A Flatpak or snap application that may act as it; may be repeated.", valueName: "id"))
    var sandboxIDs: [String] = []

    /// Points out programs that nobody can be.
    func warn(_ output: Output) {
        for advice in executables.filter({ !$0.isEmpty }).compactMap(ExecutableAdvice.on) {
            output.aside("brokerctl: warning: " + advice.clean)
        }
    }

    /// Changes what was named on the command line, and keeps the rest. An empty text takes something away.
    func change(_ description: inout AppDescription) {
        if let group { description.group = group.isEmpty ? nil : group }
        if let redirectURI { description.redirectURI = redirectURI.isEmpty ? nil : redirectURI }
        func change(_ list: inout [String], to named: [String]) {
            if !named.isEmpty { list = named.filter { !$0.isEmpty } }
        }
        func words(_ scopes: [String]) -> [String] {
            scopes.flatMap { $0.isEmpty ? [""] : $0.split(separator: " ").map(String.init) }
        }
        change(&description.scopes, to: words(scopes))
        if !allowedScopes.isEmpty {
            let allowed = words(allowedScopes).filter { !$0.isEmpty }
            description.allowedScopes = allowed.isEmpty ? nil : allowed
        }
        change(&description.executables, to: executables)
        change(&description.units, to: units)
        change(&description.sandboxIDs, to: sandboxIDs)
    }
}

/// Where a client secret comes from. Never from an argument: every process of the machine can read those.
struct ClientSecretOptions: ParsableArguments {
    @Option(
        name: .customLong("client-secret-file"),
        help: ArgumentHelp(
            "A file whose first line is the client secret, for a confidential client; - for standard input.",
            valueName: "path"))
    var path: String?

    @Flag(name: .customLong("client-secret-stdin"), help: "The same as --client-secret-file -.")
    var isOnStandardInput = false

    @Option(
        name: .customLong("token-endpoint-auth-method"),
        help: ArgumentHelp(
            "How the client secret is shown: client_secret_basic or client_secret_post; as the provider says if left out.",
            valueName: "method"))
    var method: ClientSecretMethod?

    func validate() throws {
        guard path == nil || !isOnStandardInput else {
            throw ValidationError("Give --client-secret-file or --client-secret-stdin, not both.")
        }
    }

    var isGiven: Bool { path != nil || isOnStandardInput }

    func read() throws(BrokerClientError) -> String? {
        guard let path = isOnStandardInput ? "-" : path else { return nil }
        return try SecretFile.firstLine(of: path)
    }
}

extension ClientSecretMethod: ExpressibleByArgument {}
