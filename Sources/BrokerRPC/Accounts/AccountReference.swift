import BrokerValues

/// The account a request means: its id, or its username.
package struct AccountReference: ParamsObject, Equatable {
    package var id: String?
    package var username: String?

    package init() {}
    package static func id(_ id: String) -> AccountReference { with { $0.id = id } }
    package static func username(_ name: String) -> AccountReference { with { $0.username = name } }

    private static func with(_ change: (inout AccountReference) -> Void) -> AccountReference {
        var reference = AccountReference()
        change(&reference)
        return reference
    }

    package static let componentName: String? = "AccountReference"
    package static let members: [Member<AccountReference>] = [
        .optional("id", \.id, "Account.id. Either this or username.", .text(atMost: 256)),
        .optional("username", \.username, "Compared without case.", .text(atMost: 512)),
    ]

    package func check() throws(WireError) {
        guard (id == nil) != (username == nil) else {
            throw WireError(
                id == nil ? "needs \"id\" or \"username\"" : "must have one of \"id\" and \"username\", not both")
        }
    }
}
