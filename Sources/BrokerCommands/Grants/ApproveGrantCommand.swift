import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues

struct ApproveGrantCommand: Subcommand {
    static var about: About {
        About(
            "approve", "Let a program use an app.",
            """
            Approves a request from brokerctl grants list, or a program in advance: --caller TIER:ID --app NAME, where \
            the tier is sandboxed, confined, systemInstalled or unknown, and the id is as in the lists; or system:NAME \
            for a unit of the system. A broker that serves the whole machine identifies system services by their unit, \
            and no program by its path.

            Examples:
              brokerctl grants approve k7f3q2m9ab --for 30d
              brokerctl grants approve --caller sandboxed:flatpak:org.example.Mail --app mail --scope mail.read
              brokerctl grants approve --caller system:backup.service --app mail
            """)
    }

    var global = GlobalOptions()
    var id: String?
    var caller: CallerName?
    var app: String?
    var account: AccountName?
    var scopes: [String] = []
    var lifetime: TimeSpan?

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.argument("id", &id, "The request, from brokerctl grants list.")
        arguments.option("caller", &caller, value: "tier:id", "A program, as in sandboxed:flatpak:org.example.Mail.")
        arguments.option("app", &app, value: "name", "The app that it may use.", completing: LiveCompletion.apps)
        arguments.option("account", &account, "Tokens of this account only.", completing: LiveCompletion.accounts)
        arguments.list("scope", &scopes, takesSeveral: true, "A scope that the tokens may have; may be repeated.")
        arguments.option("for", &lifetime, value: "time", "How long the grant lasts, as in 10m, 12h or 30d.")
    }

    func validate() throws(UsageError) {
        switch (id, caller, app) {
        case (_?, nil, nil), (nil, _?, _?): return
        default: throw UsageError("Give a request, or --caller and --app.")
        }
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        var params = ApproveGrant.Params()
        params.request = id
        params.caller = caller?.identity
        params.app = app
        params.lifetime = lifetime?.seconds
        if !scopes.isEmpty { params.scopes = scopes.flatMap { $0.split(separator: " ").map(String.init) } }
        let node: JSONNode
        if let account {
            node = try account.resolve { reference throws(BrokerClientError) in
                var named = params
                named.account = reference
                return try context.answer(to: ApproveGrant.self, named)
            }
        } else {
            node = try context.answer(to: ApproveGrant.self, params)
        }
        let grant = try ApproveGrant.Result.decoded(node).grant
        let listed = grant.accountID == nil ? nil : try? context.connection.call(ListAccounts.self, .init())
        context.output.result(node) {
            GrantText.sentence(grant, now: Output.now, names: PeopleNames(listed?.accounts ?? [])).cleanWhole + "\n"
        }
    }
}

/// `TIER:ID`, or only an id whose type implies the tier (`system:backup.service`).
struct CallerName: ArgumentValue, Sendable {
    let identity: CallerIdentity

    static let words = [CallerTier.sandboxed, .confined, .systemInstalled, .unknown].map { $0.rawValue + ":" }
    private static let types: [String: CallerTier] = [
        "system": .systemInstalled, "flatpak": .sandboxed, "snap": .sandboxed,
    ]

    init?(argument: String) {
        let parts = argument.split(separator: ":", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        let word = String(parts[0])
        if Self.words.contains(word + ":"), let tier = CallerTier(rawValue: word) {
            identity = CallerIdentity(tier: tier, id: String(parts[1]))
        } else if let tier = Self.types[word] {
            identity = CallerIdentity(tier: tier, id: argument)
        } else {
            return nil
        }
    }
}

/// A number and a unit: `90` or `90s`, `10m`, `12h`, `30d`.
struct TimeSpan: ArgumentValue, Sendable {
    let seconds: Int64

    init?(argument: String) {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        let unit = argument.last.flatMap { units[$0] }
        guard let number = Int64(unit == nil ? argument : String(argument.dropLast())), number > 0 else { return nil }
        let (seconds, overflow) = number.multipliedReportingOverflow(by: unit ?? 1)
        guard !overflow else { return nil }
        self.seconds = seconds
    }
}
