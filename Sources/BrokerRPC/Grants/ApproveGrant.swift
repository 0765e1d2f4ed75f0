import BrokerValues

package enum ApproveGrant: AdministrationMethod {
    package static let name = "grants.approve"
    package static let summary = "Allows a caller to use an app."
    package static let description = """
        With request: that caller's request. With caller and app: also before it asks. account and scopes allow less, or \
        more, than was requested. A grant for the same part of the same app is replaced. A grant to a sandbox without a \
        confirmed name (container:…) lasts twelve hours at most.
        """
    package static let addsRecords = true
    package static let errors: [ErrorKind] = [
        .invalidParameter, .appNotFound, .accountNotFound, .accessDenied, .throttled,
    ]
    package static let resultName = "grant"
    package static func presence(for params: Params) -> PresenceNeed {
        params.request.map { .approval(request: $0) }
            ?? .always(caller: params.caller?.typed.id, apps: [params.app].compactMap(\.self))
    }

    package struct Params: ParamsObject {
        package var request: String?
        package var caller: CallerIdentity?
        package var app: String?
        package var account: AccountReference?
        package var scopes: [String]?
        package var lifetime: Int64?

        package init() {}

        private var named: NamedCaller? {
            get { caller.map { NamedCaller(identity: $0) } }
            set { caller = newValue?.identity }
        }

        package static let members: [Member<Params>] = [
            .optional("request", \.request, "GrantRequest.id. Either this, or caller and app.", .text(atMost: 64)),
            .optional("caller", \.named, "The caller to allow."),
            .optional("app", \.app, "A registered app.", .name(atMost: 128)),
            .optional("account", \.account, "Limits it to this account. Absent: as requested, or all accounts."),
            .optional(
                "scopes", \.scopes,
                "The maximum of scopes and resources of tokens. Absent: as requested, or any.",
                .each(.scope, atMost: 100)),
            .optional(
                "lifetime", \.lifetime, "Seconds. Absent: as long as the rules allow.", .between(1...315_360_000)),
        ]

        package func check() throws(WireError) {
            guard request == nil else {
                if caller != nil { throw WireError("cannot be given together with \"request\"", field: "caller") }
                if app != nil { throw WireError("cannot be given together with \"request\"", field: "app") }
                return
            }
            if caller == nil, app == nil {
                throw WireError("is missing; give it, or \"caller\" and \"app\"", field: "request")
            }
            if caller == nil { throw WireError("is missing; \"app\" needs it", field: "caller") }
            if app == nil { throw WireError("is missing; \"caller\" needs it", field: "app") }
        }
    }

    /// ``CallerIdentity`` as a param, which must not have what the broker does not know.
    private struct NamedCaller: ParamsObject {
        var identity = CallerIdentity()

        static let members: [Member<NamedCaller>] =
            [.required("tier", \.identity.tier, CallerIdentity.members[0].summary)]
            + CallerIdentity.members.dropFirst().map { $0.inside(\.identity) }
    }

    package struct Result: MessageObject {
        package var grant = Grant()
        package init() {}
        package init(grant: Grant) { self.grant = grant }
        package static let members: [Member<Result>] = [.required("grant", \.grant, "The grant in force.")]
    }
}
