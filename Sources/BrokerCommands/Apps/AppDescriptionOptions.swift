import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues

/// The description of an app, for adding and editing it.
struct AppDescriptionOptions: ArgumentGroup {
    var group: String?
    var scopes: [String] = []
    var allowedScopes: [String] = []
    var redirectURI: String?
    var executables: [String] = []
    var units: [String] = []
    var sandboxIDs: [String] = []
    var query: [QueryParameter] = []
    var resources: [String] = []
    var mailbox: String?
    var bindsRefreshToken: RegisteredChoice?
    var offlineAccess: RegisteredChoice?

    mutating func declare(in arguments: inout Arguments) {
        arguments.option("group", &group, value: "name", "The group it shares accounts with.")
        arguments.list("scope", &scopes, takesSeveral: true, "A scope that it usually requests; may be repeated.")
        arguments.list(
            "allowed-scope", &allowedScopes, value: "scope", takesSeveral: true,
            "A scope or resource allowed in its tokens, whatever it requests; may be repeated. Any, if left out.")
        arguments.option(
            "redirect-uri", &redirectURI, value: "uri",
            "As registered at the provider; http://127.0.0.1:PORT/ with any free port if left out.")
        arguments.list("executable", &executables, value: "path", "A program that may act as it; may be repeated.")
        arguments.list(
            "unit", &units,
            "A systemd unit that may act as it, as system:NAME.service or user:NAME.service; may be repeated.")
        arguments.list(
            "sandbox", &sandboxIDs, value: "id",
            "A sandbox that may act as it, as flatpak:ID, snap:NAME or ENGINE:ID; may be repeated.")
        arguments.list(
            "query", &query, value: "name=value",
            "A parameter sent with every sign-in; may be repeated. An empty value removes it.")
        arguments.list(
            "resource", &resources, value: "uri",
            "A resource of its tokens (RFC 8707), if a request names none; may be repeated.")
        arguments.option(
            "mailbox", &mailbox, value: "name@host",
            "The account's name at mail servers, for brokerctl token --format xoauth2; its username if left out.")
        arguments.option(
            "bind-refresh-token", &bindsRefreshToken, value: "choice",
            "Whether refresh tokens are bound to a key (DPoP) although access tokens are bearer tokens:"
                + " on, off, or auto (on for providers that are known to do so).")
        arguments.option(
            "offline-access", &offlineAccess, value: "choice",
            "Whether sign-ins request offline_access: on, off, or auto (if the provider offers and grants it).")
    }

    /// Warns about programs that can never match.
    func warn(_ context: CommandContext) {
        let programs = executables.filter { !$0.isEmpty }
        guard !programs.isEmpty else { return }
        let isSystem = (try? context.connection.call(GetBrokerStatus.self, .init()))?.mode == .system
        for advice in isSystem ? [ExecutableAdvice.system] : programs.compactMap(ExecutableAdvice.on) {
            context.output.aside("brokerctl: warning: " + advice.clean)
        }
    }

    /// Changes only what the command line names. An empty text removes a value.
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
        if !query.isEmpty {
            var parameters = description.query ?? [:]
            for one in query { parameters[one.name] = one.value.isEmpty ? nil : one.value }
            description.query = parameters.isEmpty ? nil : parameters
        }
        if !resources.isEmpty {
            let named = resources.filter { !$0.isEmpty }
            description.resources = named.isEmpty ? nil : named
        }
        if let bindsRefreshToken { description.bindRefreshToken = bindsRefreshToken.flag }
        if let offlineAccess { description.offlineAccess = offlineAccess.flag }
        if let mailbox { description.mailbox = mailbox.isEmpty ? nil : mailbox }
        change(&description.executables, to: executables)
        change(&description.units, to: units)
        change(&description.sandboxIDs, to: sandboxIDs)
    }
}

/// A property of a registration that the broker decides by default.
enum RegisteredChoice: String, CaseIterable, ArgumentValue {
    case on, off, auto

    static let meanings = ["on": "always", "off": "never", "auto": "depends on the provider"]

    var flag: Bool? {
        switch self {
        case .on: true
        case .off: false
        case .auto: nil
        }
    }
}

/// The source of a client secret. Never an argument: every process of the machine can read those.
struct ClientSecretOptions: ArgumentGroup {
    var path: String?
    var isOnStandardInput = false
    var method: ClientSecretMethod?

    mutating func declare(in arguments: inout Arguments) {
        arguments.option(
            "client-secret-file", &path, value: "path",
            "A file whose first line is the client secret, for a confidential client; - for standard input.")
        arguments.flag("client-secret-stdin", &isOnStandardInput, "The same as --client-secret-file -.")
        arguments.option(
            "token-endpoint-auth-method", &method, value: "method",
            "Send the client secret with client_secret_basic or client_secret_post; as the provider says if left out.")
    }

    func validate() throws(UsageError) {
        guard path == nil || !isOnStandardInput else {
            throw UsageError("Give --client-secret-file or --client-secret-stdin, not both.")
        }
    }

    var isGiven: Bool { path != nil || isOnStandardInput }

    func read() throws(BrokerClientError) -> String? {
        guard let path = isOnStandardInput ? "-" : path else { return nil }
        return try SecretFile.firstLine(of: path)
    }
}

extension ClientSecretMethod: ArgumentValue {
    package static let meanings = [
        "client_secret_basic": "in a header", "client_secret_post": "in the body of the request",
    ]
}
