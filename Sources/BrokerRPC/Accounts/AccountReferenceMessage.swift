import BrokerValues

/// An object with one of two members on the wire.
extension AccountReference: WireValue {
    private struct Form: ParamsObject {
        var id: String?
        var username: String?

        static let componentName: String? = "AccountReference"
        static let members: [Member<Form>] = [
            .optional("id", \.id, "Account.id. Either this or username.", .text(atMost: 256)),
            .optional("username", \.username, "Compared without case.", .text(atMost: 512)),
        ]
    }

    package static var schema: Schema { Form.schema }

    package init(reading node: JSONNode) throws(WireError) {
        let form = try Form(reading: node)
        switch (form.id, form.username) {
        case (let id?, nil): self = .id(id)
        case (nil, let name?): self = .username(name)
        case (nil, nil): throw WireError("needs \"id\" or \"username\"")
        case (_?, _?): throw WireError("must have one of \"id\" and \"username\", not both")
        }
    }

    package func write(to writer: inout JSONWriter) {
        var form = Form()
        switch self {
        case .id(let id): form.id = id
        case .username(let name): form.username = name
        }
        form.write(to: &writer)
    }
}
