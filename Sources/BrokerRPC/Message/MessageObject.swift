import BrokerValues

/// An object of the protocol, defined by the table of its members.
package protocol MessageObject: WireValue {
    /// All members absent: the initial value for decoding.
    init()
    static var members: [Member<Self>] { get }
    /// The name of its schema in the OpenRPC document; `nil` for an object that is used in a single place.
    static var componentName: String? { get }
    /// Params are strict (a misspelled name must not be ignored); results are not, so that later brokers can add members.
    static var refusesUnknownMembers: Bool { get }
    /// Checks rules that concern more than one member.
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
                if Self.refusesUnknownMembers { throw .unknown(one.name) }
                continue
            }
            guard seen & 1 << index == 0 else { throw .repeated(one.name) }
            seen |= 1 << index
            do throws(WireError) { try members[index].read(one.value, &self) } catch { throw error.inside(one.name) }
        }
        for (index, member) in members.enumerated() where member.isRequired && seen & 1 << index == 0 {
            throw .missing(member.name)
        }
        try check()
    }

    package func write(to writer: inout JSONWriter) {
        writer.object { writer in for member in Self.members { member.write(self, &writer) } }
    }
}

// MARK: - Params

/// The params of a method: unknown names are refused.
package protocol ParamsObject: MessageObject {
    /// How they name the app that the caller acts as: an `AppReference`, an optional one, or ``NoApp``.
    associatedtype NamedApp: Sendable = NoApp
    func namedApp() throws(WireError) -> NamedApp
    /// How much of the app the request touches: a grant may be for less.
    var reach: AppReach { get }
    /// The caller's own name for the request, if it gave one.
    var correlationId: String? { get }
    /// Seconds that the request waits for the person's approval if it is missing.
    var waitForGrant: Int64? { get }
}

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

// MARK: - Members

/// One named member of a message: how it is read, written and documented.
///
/// A class, so that iterating a table for each request costs one reference count a member and not one for each field.
package final class Member<Owner: Sendable>: Sendable {
    package let name: String
    /// Documentation for client developers: meaning, unit, default.
    package let summary: String
    package let isRequired: Bool
    let read: @Sendable (JSONNode, inout Owner) throws(WireError) -> Void
    let write: @Sendable (Owner, inout JSONWriter) -> Void
    /// Created on demand: a program that only sends requests never needs it.
    private let makeSchema: @Sendable () -> Schema

    package var schema: Schema { makeSchema() }

    /// Not inlined into the tables, which are many and are created once.
    @inline(never)
    private init(
        name: String, summary: String, schema: @autoclosure @escaping @Sendable () -> Schema, isRequired: Bool,
        read: @escaping @Sendable (JSONNode, inout Owner) throws(WireError) -> Void,
        write: @escaping @Sendable (Owner, inout JSONWriter) -> Void
    ) {
        self.name = name
        self.summary = summary
        self.makeSchema = schema
        self.isRequired = isRequired
        self.read = read
        self.write = write
    }

    static func required<Value: WireValue>(
        _ name: String, _ path: WritableKeyPath<Owner, Value> & Sendable, _ summary: String, _ rule: Rule<Value> = .none
    ) -> Member {
        Member(
            name: name, summary: summary, schema: Value.schema.adding(rule.schema), isRequired: true,
            read: { node, owner throws(WireError) in
                let value = try Value(reading: node)
                try rule.check(value)
                owner[keyPath: path] = value
            },
            write: { owner, writer in
                writer.key(named: name)
                owner[keyPath: path].write(to: &writer)
            })
    }

    /// Absent and `null` are equivalent.
    static func optional<Value: WireValue>(
        _ name: String, _ path: WritableKeyPath<Owner, Value?> & Sendable, _ summary: String,
        _ rule: Rule<Value> = .none
    ) -> Member {
        Member(
            name: name, summary: summary, schema: Value.schema.adding(rule.schema), isRequired: false,
            read: { node, owner throws(WireError) in
                if case .null = node { return }
                let value = try Value(reading: node)
                try rule.check(value)
                owner[keyPath: path] = value
            },
            write: { owner, writer in
                guard let value = owner[keyPath: path] else { return }
                writer.key(named: name)
                value.write(to: &writer)
            })
    }

    /// A choice that later brokers may add to: an unknown value counts as absent.
    static func open<Value: WireChoice>(
        _ name: String, _ path: WritableKeyPath<Owner, Value?> & Sendable, _ summary: String
    ) -> Member {
        Member(
            name: name, summary: summary, schema: Value.schema, isRequired: false,
            read: { node, owner throws(WireError) in
                if case .string(let text) = node { owner[keyPath: path] = Value(rawValue: text) }
            },
            write: { owner, writer in
                guard let value = owner[keyPath: path] else { return }
                writer.key(named: name)
                value.write(to: &writer)
            })
    }

    /// A required choice that later brokers may add to: an unknown value leaves the member's initial value.
    static func requiredOpen<Value: WireChoice>(
        _ name: String, _ path: WritableKeyPath<Owner, Value> & Sendable, _ summary: String
    ) -> Member {
        Member(
            name: name, summary: summary, schema: Value.schema, isRequired: true,
            read: { node, owner throws(WireError) in
                if let value = Value(rawValue: try String(reading: node)) { owner[keyPath: path] = value }
            },
            write: { owner, writer in
                writer.key(named: name)
                owner[keyPath: path].write(to: &writer)
            })
    }

    /// Absent and `null` mean the default, which is not written.
    static func defaulted<Value: WireValue & Equatable>(
        _ name: String, _ path: WritableKeyPath<Owner, Value> & Sendable, _ summary: String, to standard: Value,
        _ rule: Rule<Value> = .none
    ) -> Member {
        Member(
            name: name, summary: summary,
            schema: Value.schema.adding(rule.schema).adding(standard: standard), isRequired: false,
            read: { node, owner throws(WireError) in
                if case .null = node { return }
                let value = try Value(reading: node)
                try rule.check(value)
                owner[keyPath: path] = value
            },
            write: { owner, writer in
                guard owner[keyPath: path] != standard else { return }
                writer.key(named: name)
                owner[keyPath: path].write(to: &writer)
            })
    }

    /// Always present; `null` means that there is no value.
    static func nullable<Value: WireValue>(
        _ name: String, _ path: WritableKeyPath<Owner, Value?> & Sendable, _ summary: String
    ) -> Member {
        Member(
            name: name, summary: summary, schema: Value.schema.orNull(), isRequired: true,
            read: { node, owner throws(WireError) in
                if case .null = node { return }
                owner[keyPath: path] = try Value(reading: node)
            },
            write: { owner, writer in
                writer.key(named: name)
                if let value = owner[keyPath: path] { value.write(to: &writer) } else { writer.null() }
            })
    }

    /// The same member in an object that contains this one's owner, without a nested object on the wire.
    func inside<Outer>(_ path: WritableKeyPath<Outer, Owner> & Sendable) -> Member<Outer> {
        let (read, write, makeSchema) = (read, write, makeSchema)
        return Member<Outer>(
            name: name, summary: summary, schema: makeSchema(), isRequired: isRequired,
            read: { node, outer throws(WireError) in try read(node, &outer[keyPath: path]) },
            write: { outer, writer in write(outer[keyPath: path], &writer) })
    }
}

extension Array {
    /// The members of a value that several objects share, as members of one of these objects.
    func inside<Inner, Outer>(
        _ path: WritableKeyPath<Outer, Inner> & Sendable
    ) -> [Member<Outer>] where Element == Member<Inner> {
        map { $0.inside(path) }
    }
}
