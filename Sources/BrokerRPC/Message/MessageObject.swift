import BrokerValues

/// An object of the protocol, defined by the table of its members.
package protocol MessageObject: WireValue {
    /// All members absent: what reading starts from.
    init()
    static var members: [Member<Self>] { get }
    /// The name of its schema in the OpenRPC document; nil for one that stands in a single place.
    static var componentName: String? { get }
    /// Params are strict (a misspelt name must not be ignored); results are not, so that later brokers can add to them.
    static var refusesUnknownMembers: Bool { get }
    /// What cannot be said of one member alone.
    func check() throws(WireError)
}

extension MessageObject {
    package static var componentName: String? { nil }
    package static var refusesUnknownMembers: Bool { false }
    package func check() throws(WireError) {}

    package static var schema: Schema {
        var components: [String: JSONValue] = [:]
        var properties: JSONObject = [:]
        for member in members {
            components.merge(member.schema.components) { $1 }
            properties[member.name] = .object(
                member.schema.adding(["description": .string(member.summary)]).json)
        }
        var json: JSONObject = ["type": "object", "properties": .object(properties)]
        let required = members.filter(\.isRequired).map { JSONValue.string($0.name) }
        if !required.isEmpty { json["required"] = .array(required) }
        if refusesUnknownMembers { json["additionalProperties"] = false }
        let schema = Schema(json, components: components)
        return componentName.map(schema.named) ?? schema
    }

    package init(reading node: JSONNode) throws(WireError) {
        guard case .object(let given) = node else { throw .expected("an object", not: node) }
        self.init()
        let members = Self.members
        var seen: UInt64 = 0
        for one in given {
            guard let index = members.firstIndex(where: { $0.name == one.name }) else {
                if Self.refusesUnknownMembers { throw WireError("is not known here", field: one.name) }
                continue
            }
            guard seen & 1 << index == 0 else { throw WireError("is given twice", field: one.name) }
            seen |= 1 << index
            do throws(WireError) { try members[index].read(one.value, &self) } catch { throw error.inside(one.name) }
        }
        for (index, member) in members.enumerated() where member.isRequired && seen & 1 << index == 0 {
            throw WireError("is missing", field: member.name)
        }
        try check()
    }

    package func write(to writer: inout JSONWriter) {
        writer.object { writer in for member in Self.members { member.write(self, &writer) } }
    }
}

/// The params of a method: unknown names are refused.
package protocol ParamsObject: MessageObject {
    /// What they say about the app that the caller wants to act as: an `AppReference`, an optional one, or ``NoApp``.
    associatedtype NamedApp: Sendable = NoApp
    func namedApp() throws(WireError) -> NamedApp
    /// How much of the app the request touches: a grant may be for less.
    var reach: AppReach { get }
    /// The caller's own name for the request, if it gave one.
    var correlationId: String? { get }
    /// Seconds that the request waits for the person to agree, where that is missing.
    var waitForGrant: Int64? { get }
}

/// Params that name no app.
package struct NoApp: Sendable {}

extension ParamsObject {
    package static var refusesUnknownMembers: Bool { true }
    package var correlationId: String? { nil }
    package var waitForGrant: Int64? { nil }
}

extension ParamsObject where NamedApp == NoApp {
    package func namedApp() -> NoApp { NoApp() }
    package var reach: AppReach { .everything }
}

/// Params or a result without members.
package struct Empty: ParamsObject, Equatable {
    package init() {}
    package static let members: [Member<Empty>] = []
}
