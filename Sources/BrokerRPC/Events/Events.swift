import BrokerValues

package enum AccountEvent: BrokerNotification {
    package static let name = "event.account"
    package static let summary = "An account was signed in, signed out or removed. Sent after broker.subscribe."

    package struct Params: MessageObject {
        package var change: AccountChange?
        package var app = ""
        package var account = Account()

        package init() {}
        package init(_ change: AccountChange, app: String, _ account: Account) {
            self.change = change
            self.app = app
            self.account = account
        }

        package static let members: [Member<Params>] = [
            .open("change", \.change, "The kind of change."),
            .required("app", \.app, "The app on whose request it happened."),
            .required("account", \.account, "The account's current state."),
        ]
    }
}

package enum TokenEvent: BrokerNotification {
    package static let name = "event.token"
    package static let summary = "A new access token is in the cache, or a refresh token was refused permanently."

    package struct Params: MessageObject {
        package var change: TokenChange?
        package var app = ""
        package var accountId = ""
        package var scopes: [String] = []
        package var expiresOn: NumericDate?

        package init() {}
        package init(_ change: TokenChange, app: String, accountId: String, scopes: [String], expiresOn: NumericDate?) {
            self.change = change
            self.app = app
            self.accountId = accountId
            self.scopes = scopes
            self.expiresOn = expiresOn
        }

        package static let members: [Member<Params>] = [
            .open("change", \.change, "The kind of change."),
            .required("app", \.app, "The app on whose request it happened."),
            .required("accountId", \.accountId, "The account's id."),
            .required("scopes", \.scopes, "The token's scopes."),
            .optional("expiresOn", \.expiresOn, "Seconds since 1970; of a new access token."),
        ]
    }
}

package enum InteractionEvent: BrokerNotification {
    package static let name = "event.interaction"
    package static let summary = "A sign-in waits for the person, or has ended."

    package struct Params: MessageObject {
        package var change: InteractionChange?
        package var app = ""
        package var interactionId = ""
        package var caller: String?
        package var errorKind: ErrorKind?

        package init() {}
        package init(
            _ change: InteractionChange, app: String, interactionId: String, caller: String? = nil,
            errorKind: ErrorKind?
        ) {
            self.change = change
            self.app = app
            self.interactionId = interactionId
            self.caller = caller
            self.errorKind = errorKind
        }

        package static let members: [Member<Params>] = [
            .open("change", \.change, "The kind of change."),
            .required("app", \.app, "The requesting app."),
            .required("interactionId", \.interactionId, "For interaction.cancel."),
            .optional(
                "caller", \.caller,
                "With opened: the caller on another machine (ssh:HOST). The broker opened the page."),
            .open("errorKind", \.errorKind, "With failed: the kind of the error."),
        ]
    }
}
