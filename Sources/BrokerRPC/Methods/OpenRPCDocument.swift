import BrokerValues

/// The protocol as an OpenRPC 1.3 document, from the definitions that decode the requests.
package enum OpenRPCDocument {
    package static let protocolVersion: Int64 = 1

    package static let json: JSONValue = {
        var components = ErrorData.schema.components
        var methods: [JSONValue] = []
        for method in MethodRegistry.methods { methods.append(describe(method, &components)) }
        var notifications: [JSONValue] = []
        for notification in MethodRegistry.notifications { notifications.append(describe(notification, &components)) }
        return [
            "openrpc": "1.3.2",
            "info": [
                "title": "brokerd",
                "version": .string("\(protocolVersion).0.0"),
                "description": """
                JSON-RPC 2.0 over a Unix stream socket, one message a line. Times are whole seconds since 1970, \
                durations whole seconds. Unknown params are refused; clients must ignore unknown members of results.
                """,
                "license": ["name": "Apache-2.0"],
            ],
            "methods": .array(methods),
            "components": ["schemas": .object(components)],
            "x-notifications": .array(notifications),
        ]
    }()

    /// The document as it is sent, serialized once.
    package static let bytes: [UInt8] = {
        var writer = JSONWriter()
        writer.value(json)
        return writer.bytes
    }()

    private static func describe(_ method: any BrokerMethod.Type, _ components: inout [String: JSONValue]) -> JSONValue
    {
        func opened<M: BrokerMethod>(_: M.Type) -> JSONValue {
            components.merge(M.Result.schema.components) { $1 }
            return [
                "name": .string(M.name),
                "summary": .string(M.summary),
                "description": .string(M.description),
                "paramStructure": "by-name",
                "params": .array(M.Params.members.map { describe($0, &components) }),
                "result": ["name": .string(M.resultName), "schema": .object(M.Result.schema.json)],
                "errors": .array([error]),
                "x-error-kinds": .array(M.everyError.map { .string($0.rawValue) }),
                "x-permission": [
                    "name": .string(M.permission.rawValue), "description": .string(M.permission.description),
                ],
                "x-idempotent": .bool(M.isIdempotent),
            ]
        }
        return opened(method)
    }

    private static func describe(
        _ notification: any BrokerNotification.Type, _ components: inout [String: JSONValue]
    ) -> JSONValue {
        func opened<N: BrokerNotification>(_: N.Type) -> JSONValue {
            [
                "name": .string(N.name),
                "summary": .string(N.summary),
                "params": .array(N.Params.members.map { describe($0, &components) }),
            ]
        }
        return opened(notification)
    }

    private static func describe<Owner>(_ member: Member<Owner>, _ components: inout [String: JSONValue]) -> JSONValue {
        components.merge(member.schema.components) { $1 }
        return [
            "name": .string(member.name),
            "description": .string(member.summary),
            "required": .bool(member.isRequired),
            "schema": .object(member.schema.json),
        ]
    }

    /// The error that every method may return; ``ErrorData`` gives the cause.
    private static let error: JSONValue = [
        "code": .integer(RPCError.brokerErrorCode),
        "message": "One sentence for a person; data.kind says what it is.",
        "data": ["$ref": "#/components/schemas/ErrorData"],
    ]
}
