import BrokerRPC
import BrokerValues

/// brokerd-protocol(7), from the definitions that decode the requests.
enum ProtocolPage {
    static var page: Roff {
        var page = Roff("brokerd-protocol", section: 7, title: "Miscellanea")
        page.section("NAME")
        page.synopsis("brokerd-protocol - how programs talk to the token broker")
        page.section("DESCRIPTION")
        page.paragraphs(
            """
            `brokerd`(8) listens on a Unix stream socket: `$BROKER_SOCKET`, else `$XDG_RUNTIME_DIR/brokerd/broker.sock`. It \
            speaks JSON-RPC 2.0 in UTF-8, one JSON text a line, ended by a newline, in both directions; a line has at most 1 \
            MiB. A client should check that the socket belongs to its own uid or to root before it sends anything.

              {"jsonrpc":"2.0","id":1,"method":"token.acquireSilent","params":{"app":"mail","scopes":["mail.read"]}}
              {"jsonrpc":"2.0","id":1,"result":{"tokenType":"Bearer","accessToken":"...","expiresOn":1795239871}}

            Params are named. Those that a method does not know are refused; clients must ignore unknown members of \
            results. Times are whole seconds since 1970, durations whole seconds. Requests of one connection may be \
            answered in any order.

            `rpc.discover` answers the whole protocol, with all types, as an OpenRPC document.
            """)
        page.section("METHODS")
        for method in objects("methods") { add(method, to: &page) }
        page.section("NOTIFICATIONS")
        page.paragraphs("Messages that the broker sends on its own, on the connection concerned.")
        for notification in objects("x-notifications") {
            page.item("`\(string(notification, "name"))`", string(notification, "summary"))
        }
        page.section("ERRORS")
        for (code, text) in [
            ("-32700", "It was not JSON."), ("-32600", "It was JSON, but no request."),
            ("-32601", "There is no such method."),
            ("-32602", "The params are wrong; `data.field` names the place."),
            (
                "-32000",
                "Everything else. `message` is for people; `data.kind` is the kind of error, `data.reason` one of its causes, "
                    + "and `data.retryable` whether the same request may succeed later by itself."
            ),
        ] { page.item("`\(code)`", text) }
        page.paragraphs("Kinds: \(ErrorKind.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ")).")
        page.section("SEE ALSO")
        page.synopsis("`brokerctl`(1), `brokerd`(8), `brokerd-config`(5)")
        return page
    }

    private static func add(_ method: [String: JSONValue], to page: inout Roff) {
        page.subsection(string(method, "name"))
        let permission = method["x-permission"]?.objectValue.map { string($0, "description") } ?? ""
        page.paragraphs(
            string(method, "summary") + "\n\n" + string(method, "description") + "\n\nFor: \(permission).")
        for param in method["params"]?.arrayValue?.compactMap(\.objectValue) ?? [] {
            let isRequired = param["required"] == .bool(true)
            page.item("`\(string(param, "name"))`" + (isRequired ? " (required)" : ""), string(param, "description"))
        }
    }

    private static func objects(_ member: String) -> [[String: JSONValue]] {
        OpenRPCDocument.json.objectValue?[member]?.arrayValue?.compactMap(\.objectValue) ?? []
    }

    private static func string(_ object: [String: JSONValue], _ member: String) -> String {
        object[member]?.stringValue ?? ""
    }
}
