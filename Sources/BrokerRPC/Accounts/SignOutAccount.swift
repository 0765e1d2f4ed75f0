import BrokerValues

package enum SignOutAccount: AppOrPersonalMethod {
    package static let name = "accounts.signOut"
    package static let summary = "Signs an account out of one app, of all apps of its group, or of everything."
    package static let description = """
        With an app, a username means an account of its provider; several signed-in accounts with one username are ambiguousAccount. \
        The stages run in order, each with its own outcome. local: the app's tokens are gone, and its next sign-in asks for the \
        password. wipe: all apps' tokens of the account in the group are gone; without an app (for the person's own tools) \
        and on a shared device, those of all groups. revocation: the refresh tokens are revoked at the provider (RFC \
        7009). browser: the session there is over; with presentation "client" the broker sends interaction.open, and a \
        person who closes the page is done. A failed stage does not undo the others.
        """
    package static let right: SandboxRight? = .accounts
    package static let errors: [ErrorKind] = [
        .accountNotFound, .ambiguousAccount, .appNotFound, .accessDenied, .grantRequired,
    ]
    package static let resultName = "signOut"

    package static let defaultTimeout: Int64 = 120

    package struct Params: OptionalAppParams {
        package var account = AccountReference.id("")
        package var selection = AppSelection()
        package var wipe = false
        package var fromBrowser = false
        package var revoke = false
        package var extraQueryParameters: [String: String] = [:]
        package var presentation = Presentation.client
        package var timeout = SignOutAccount.defaultTimeout
        package var correlationId: String?

        package var reach: AppReach { .removal(account) }

        package init() {}
        package init(_ account: AccountReference) { self.account = account }

        package static let members: [Member<Params>] =
            [.required("account", \.account, "By id or by username.")]
            + appMembers(\.selection) + [
                .defaulted("wipe", \.wipe, "True takes the account's tokens from all apps of the group.", to: false),
                .defaulted("fromBrowser", \.fromBrowser, "True ends the session with the provider, too.", to: false),
                .defaulted("revoke", \.revoke, "True revokes the refresh tokens at the provider.", to: false),
                .defaulted(
                    "extraQueryParameters", \.extraQueryParameters,
                    "With fromBrowser: added to the address of the provider's page; names the broker sets itself are refused.",
                    to: [:], .query),
                .defaulted("presentation", \.presentation, "The process that opens the browser.", to: .client),
                .defaulted(
                    "timeout", \.timeout, "Seconds the browser has to come back.", to: SignOutAccount.defaultTimeout,
                    .between(1...3600)),
                .correlationID(\.correlationId),
            ]
    }

    package struct Result: MessageObject, Equatable {
        package var stages = SignOutStages()
        package init() {}
        package init(stages: SignOutStages) { self.stages = stages }
        package static let members: [Member<Result>] = [.required("stages", \.stages, "The outcome of each part.")]
    }
}

extension SignOutStages: MessageObject {
    package static let members: [Member<SignOutStages>] = [
        .required("local", \.local, "The app's tokens: done, skipped, or \"failed: \" and why."),
        .required("wipe", \.wipe, "All apps' tokens."),
        .required("revocation", \.revocation, "The provider's part."),
        .required("browser", \.browser, "The browser's session."),
    ]
}

/// A string on the wire: `done`, `skipped` (not requested), or `failed: ` and the reason.
extension SignOutStages.Outcome: WireValue {
    private static let failure = "failed: "

    package static var schema: Schema { String.schema }

    package init(reading node: JSONNode) throws(WireError) {
        let text = try String(reading: node)
        switch text {
        case "done": self = .done
        case "skipped": self = .skipped
        // Any other text, from a later broker, is not a success.
        default: self = .failed(text.hasPrefix(Self.failure) ? String(text.dropFirst(Self.failure.count)) : text)
        }
    }

    package func write(to writer: inout JSONWriter) {
        switch self {
        case .done: writer.string("done")
        case .skipped: writer.string("skipped")
        case .failed(let why): writer.string(Self.failure + why)
        }
    }
}
