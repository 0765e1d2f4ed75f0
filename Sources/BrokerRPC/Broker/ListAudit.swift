import BrokerValues

package enum ListAudit: AdministrationMethod {
    package static let name = "audit.list"
    package static let summary = "Decisions and issued tokens."
    package static let description = """
        The oldest first; of more than `limit` the newest. The log keeps about 3,000 changes, 3,000 entries of tokens and 2,000 of \
        refusals; none of the three pushes out another. Repetitions by the same caller within a few seconds are one entry \
        with a count.
        """
    package static let isIdempotent = true
    package static let errors: [ErrorKind] = [.accessDenied]
    package static let resultName = "audit"

    package struct Params: ParamsObject {
        package var since: NumericDate?
        package var before: Int64?
        package var limit: Int64 = 1000
        package var app: String?
        package init() {}
        package static let members: [Member<Params>] = [
            .optional("since", \.since, "Only entries that lasted until this time or later, seconds since 1970."),
            .optional("before", \.before, "Only entries before this sequence number: for the previous page."),
            .defaulted("limit", \.limit, "The maximum number; fewer if they are large.", to: 1000, .between(1...1_000)),
            .optional("app", \.app, "Only entries of this app.", .name(atMost: 4096)),
        ]
    }

    package struct Result: MessageObject {
        package var entries: [AuditEntry] = []
        package var intact = false
        package var completeSince: NumericDate?
        package init() {}
        package init(entries: [AuditEntry], intact: Bool, completeSince: NumericDate?) {
            self.entries = entries
            self.intact = intact
            self.completeSince = completeSince
        }
        package static let members: [Member<Result>] = [
            .required("entries", \.entries, "The oldest first."),
            .required(
                "intact", \.intact, "Whether the whole log is as it was written: nothing changed, nothing taken out."),
            .optional(
                "completeSince", \.completeSince,
                "From this time on no entry was pushed out by newer ones, seconds since 1970. Absent: the log is empty."
            ),
        ]
    }
}

extension AuditEntry: MessageObject {
    package static let componentName: String? = "AuditEntry"
    package init() { self.init(time: 0, method: "", outcome: "") }

    package static let members: [Member<AuditEntry>] = [
        .required("sequence", \.sequence, "Counts from 1, without gaps."),
        .required("time", \.time, "When it happened, the first time; seconds since 1970."),
        .required("count", \.count, "How often it happened within a few seconds."),
        .optional("caller", \.caller, "The caller; absent: the broker itself."),
        .optional("facts", \.facts, "The facts that identified the caller."),
        .required(
            "method", \.method,
            """
            The method. `broker.start` and `broker.stop` are the broker's own; `audit.lost` counts entries that could \
            not be kept.
            """),
        .optional("app", \.app, "The app it acted as."),
        .optional("account", \.account, "The account's id."),
        .optional("scopes", \.scopes, "The token's scopes."),
        .required(
            "outcome", \.outcome,
            "`cached` or `issued`: a token was returned; `done`: a change was made; otherwise the kind of the error."),
        .optional(
            "reason", \.reason, "The error's reason; `interrupted`: the broker did not stop properly before."),
        .optional("detail", \.detail, "The change in a few words."),
        .optional(
            "door", \.door,
            "The socket and protocol of the request: `socket`, `sandbox` or `oidc-agent`. Absent: none, or an older entry."
        ),
        .optional("correlationId", \.correlationID, "The id of the last of them."),
    ]
}
