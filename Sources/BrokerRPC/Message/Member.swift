import BrokerValues

/// One named member of a message: how it is read, written and documented.
///
/// A class, so that going through a table for each request counts one reference a member and not one for each field.
package final class Member<Owner: Sendable>: Sendable {
    package let name: String
    /// For whoever writes a client: meaning, unit, default.
    package let summary: String
    package let schema: Schema
    package let isRequired: Bool
    let read: @Sendable (JSONNode, inout Owner) throws(WireError) -> Void
    let write: @Sendable (Owner, inout JSONWriter) -> Void

    private init(
        name: String, summary: String, schema: Schema, isRequired: Bool,
        read: @escaping @Sendable (JSONNode, inout Owner) throws(WireError) -> Void,
        write: @escaping @Sendable (Owner, inout JSONWriter) -> Void
    ) {
        self.name = name
        self.summary = summary
        self.schema = schema
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
                writer.key(name)
                owner[keyPath: path].write(to: &writer)
            })
    }

    /// Absent and `null` are the same.
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
                writer.key(name)
                value.write(to: &writer)
            })
    }

    /// A choice that later brokers may add to: a value that is not known counts as absent.
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
                writer.key(name)
                value.write(to: &writer)
            })
    }

    /// A choice that is always there and that later brokers may add to: a value that is not known leaves the member as
    /// the object begins with it.
    static func requiredOpen<Value: WireChoice>(
        _ name: String, _ path: WritableKeyPath<Owner, Value> & Sendable, _ summary: String
    ) -> Member {
        Member(
            name: name, summary: summary, schema: Value.schema, isRequired: true,
            read: { node, owner throws(WireError) in
                if let value = Value(rawValue: try String(reading: node)) { owner[keyPath: path] = value }
            },
            write: { owner, writer in
                writer.key(name)
                owner[keyPath: path].write(to: &writer)
            })
    }

    /// Absent and `null` mean the default, which is not written.
    static func defaulted<Value: WireValue & Equatable>(
        _ name: String, _ path: WritableKeyPath<Owner, Value> & Sendable, _ summary: String, to standard: Value,
        _ rule: Rule<Value> = .none
    ) -> Member {
        var example = JSONWriter()
        standard.write(to: &example)
        let documented = (try? JSONReader.read(example.bytes))?.value ?? .null
        return Member(
            name: name, summary: summary, schema: Value.schema.adding(rule.schema).adding(["default": documented]),
            isRequired: false,
            read: { node, owner throws(WireError) in
                if case .null = node { return }
                let value = try Value(reading: node)
                try rule.check(value)
                owner[keyPath: path] = value
            },
            write: { owner, writer in
                guard owner[keyPath: path] != standard else { return }
                writer.key(name)
                owner[keyPath: path].write(to: &writer)
            })
    }

    /// Present always; `null` says that there is none.
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
                writer.key(name)
                if let value = owner[keyPath: path] { value.write(to: &writer) } else { writer.null() }
            })
    }

    /// The same member in an object that contains this one's owner, without a name between them on the wire.
    func inside<Outer>(_ path: WritableKeyPath<Outer, Owner> & Sendable) -> Member<Outer> {
        let (read, write) = (read, write)
        return Member<Outer>(
            name: name, summary: summary, schema: schema, isRequired: isRequired,
            read: { node, outer throws(WireError) in try read(node, &outer[keyPath: path]) },
            write: { outer, writer in write(outer[keyPath: path], &writer) })
    }
}

extension Array {
    /// Members of a value that several objects share, as each of them has it.
    func inside<Inner, Outer>(
        _ path: WritableKeyPath<Outer, Inner> & Sendable
    ) -> [Member<Outer>] where Element == Member<Inner> {
        map { $0.inside(path) }
    }
}
