import BrokerRPC
import BrokerValues
import Foundation
import Testing

@Suite("The OpenRPC document")
struct OpenRPCDocumentTests {
    private static let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "../../docs/openrpc.json"
    ).standardizedFileURL

    private static func text() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(OpenRPCDocument.json) + Data("\n".utf8)
    }

    @Test("docs/openrpc.json equals the result of rpc.discover (UPDATE_DOCS=1 swift test --filter OpenRPC writes it)")
    func fileIsCurrent() throws {
        if ProcessInfo.processInfo.environment["UPDATE_DOCS"] != nil { try Self.text().write(to: Self.file) }
        #expect(try Data(contentsOf: Self.file) == Self.text())
    }

    @Test("every method of the registry is in it, with its params, in order")
    func methods() throws {
        let methods = try #require(OpenRPCDocument.json.objectValue?["methods"]?.arrayValue)
        #expect(
            methods.map { $0.objectValue?["name"]?.stringValue } == MethodRegistry.methods.map { $0.name as String? })
        for (described, method) in zip(methods, MethodRegistry.methods) {
            func names<M: BrokerMethod>(_: M.Type) -> [String] { M.Params.members.map(\.name) }
            let params = described.objectValue?["params"]?.arrayValue ?? []
            #expect(params.compactMap { $0.objectValue?["name"]?.stringValue } == names(method))
            #expect(params.allSatisfy { $0.objectValue?["description"]?.stringValue?.isEmpty == false })
        }
    }

    @Test("every reference has a schema, and every schema is referenced")
    func references() throws {
        var found: Set<String> = []
        func walk(_ value: JSONValue) {
            switch value {
            case .array(let elements): elements.forEach(walk)
            case .object(let members):
                if let reference = members["$ref"]?.stringValue { found.insert(reference) }
                members.values.forEach(walk)
            default: break
            }
        }
        walk(OpenRPCDocument.json)
        let components = try #require(
            OpenRPCDocument.json.objectValue?["components"]?.objectValue?["schemas"]?.objectValue)
        #expect(found == Set(components.keys.map { "#/components/schemas/\($0)" }))
    }

    @Test("names are unique, and nouns and verbs follow the protocol's form")
    func names() {
        let names = MethodRegistry.methods.map { $0.name }
        #expect(Set(names).count == names.count)
        for name in names {
            let words = name.split(separator: ".", omittingEmptySubsequences: false)
            #expect(words.count == 2 && words.allSatisfy { $0.first?.isLowercase == true }, "\(name)")
        }
    }

    private static func protocolPage() throws -> String {
        try String(contentsOf: file.deletingLastPathComponent().appending(path: "protocol.md"), encoding: .utf8)
    }

    @Test("docs/protocol.md lists the methods that work while the broker is locked")
    func lockedMethods() throws {
        let sentence = try #require(
            try Self.protocolPage().firstMatch(of: #/answered with `locked`;([^;]+?) go on\./#))
        let listed = sentence.1.matches(of: #/`([a-zA-Z.]+)`/#).map { String($0.1) }
        let working = MethodRegistry.methods.filter { $0.worksLocked }.map { $0.name }
        #expect(Set(listed + ["broker.lock", "broker.unlock"]) == Set(working))
    }

    @Test("docs/protocol.md lists every method, notification, kind and reason")
    func protocolNames() throws {
        let page = try Self.protocolPage()
        for method in MethodRegistry.methods { #expect(page.contains("\n| `\(method.name)` |"), "\(method.name)") }
        for notification in MethodRegistry.notifications {
            #expect(page.contains("`\(notification.name)`") || page.contains("\"\(notification.name)\""))
        }
        for kind in ErrorKind.allCases { #expect(page.contains("`\(kind.rawValue)`"), "\(kind)") }
        for reason in ErrorReason.allCases { #expect(page.contains("`\(reason.rawValue)`"), "\(reason)") }
    }

    @Test("the permission decides whether params must name an app, except for administration")
    func namedApps() {
        for method in MethodRegistry.methods {
            func named<M: BrokerMethod>(_: M.Type) -> ObjectIdentifier { ObjectIdentifier(M.Params.NamedApp.self) }
            let app = named(method)
            let fits =
                switch method.permission {
                case .app: app == ObjectIdentifier(AppReference.self)
                case .appOrPersonal: app == ObjectIdentifier(AppReference?.self)
                case .person: app == ObjectIdentifier(NoApp.self)
                case .administration, .ownership: app != ObjectIdentifier(AppReference.self)
                }
            #expect(fits, "\(method.name)")
        }
    }

    @Test("methods that a client may repeat after a lost answer are idempotent")
    func idempotent() {
        #expect(
            Set(MethodRegistry.methods.filter { $0.isIdempotent }.map { $0.name }) == [
                "token.acquireSilent", "token.watch", "token.unwatch", "token.proof", "accounts.list", "accounts.get",
                "apps.list",
                "broker.status", "broker.metrics", "broker.callers", "broker.lock", "broker.unlock", "keys.status",
                "grants.list", "cache.stats", "audit.list", "partitions.list", "sandboxes.list", "rpc.discover",
            ])
    }
}
