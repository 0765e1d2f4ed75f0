import BrokerBus
import BrokerModel
import Glibc

/// Keys of vaults in the user's keyring, by the Secret Service on the session bus
/// (https://specifications.freedesktop.org/secret-service/latest/). For one thread, which is blocked.
final class Keyring {
    static let service = "org.freedesktop.secrets"
    static let root = "/org/freedesktop/secrets"
    /// Attributes are not secret: every program of the user may read them, even while the keyring is locked.
    private static let schema = "token-broker.VaultKey"
    private static let label = "Token broker, key of its vault"

    private let bus: Bus
    private let attempt: KeyAttempt
    private let end: ContinuousClock.Instant

    init(_ attempt: KeyAttempt) throws(KeyringFailure) {
        self.attempt = attempt
        end = .now + attempt.patience
        do throws(BusError) { bus = try Bus() } catch { throw .absent(error.text) }
    }

    /// Whether the service runs or can be started. Does not start it.
    var isOffered: Bool { (try? bus.offers(Self.service, within: attempt.patience)) == true }

    /// - Returns: nil if no open collection has it.
    func key(of id: String) throws(KeyringFailure) -> Secret? {
        var found = try find(id)
        if found == nil {
            // Some keyrings hide their content while they are locked.
            try openDefault()
            found = try find(id)
        }
        guard let item = found else { return nil }
        if item.isLocked { try unlock(item.path) }
        let session = try openSession()
        let answer = try call("GetSecret", of: "Item", at: item.path, isSecret: true) { arguments throws(BusError) in
            try arguments.path(session)
        }
        return try reading { () throws(BusError) in
            try answer.inside("r", "oayays") { () throws(BusError) in
                try answer.skip("oay")
                let key = try answer.bytes { $0.count == keyByteCount ? Secret(copying: $0, isKept: true) : nil }
                try answer.skip("s")
                guard let key else { throw BusError(number: EBADMSG, text: "its secret is not a vault's key") }
                return key
            }
        }
    }

    /// Whether it has such a key, open or locked. Prompts nobody.
    func hasKey(of id: String) throws(KeyringFailure) -> Bool { try find(id) != nil }

    /// Stores a key in the default collection, and replaces one of the same vault.
    func store(_ key: Secret, of id: String) throws(KeyringFailure) {
        let collection = try openDefault()
        let session = try openSession()
        let answer = try call("CreateItem", of: "Collection", at: collection, isSecret: true) {
            arguments throws(BusError) in
            try arguments.inside("a", "{sv}") { () throws(BusError) in
                try arguments.entry("org.freedesktop.Secret.Item.Label", "s") { () throws(BusError) in
                    try arguments.string(Self.label)
                }
                try arguments.entry("org.freedesktop.Secret.Item.Attributes", "a{ss}") { () throws(BusError) in
                    try arguments.words(Self.attributes(of: id))
                }
            }
            try arguments.inside("r", "oayays") { () throws(BusError) in
                try arguments.path(session)
                try arguments.bytes(UnsafeRawBufferPointer(start: nil, count: 0))
                try key.withBytes { (bytes) throws(BusError) in try arguments.bytes(bytes) }
                try arguments.string("application/octet-stream")
            }
            try arguments.flag(true)
        }
        let prompt = try reading { () throws(BusError) in
            _ = try answer.path()
            return try answer.path()
        }
        // KeePassXC has a prompt for everything, and shows none of these.
        try follow(prompt, unasked: true)
    }

    func remove(_ id: String) throws(KeyringFailure) {
        guard let item = try find(id) else { return }
        let answer = try call("Delete", of: "Item", at: item.path)
        try follow(try reading { () throws(BusError) in try answer.path() }, unasked: true)
    }

    // MARK: Steps

    private static func attributes(of id: String) -> KeyValuePairs<String, String> {
        ["xdg:schema": schema, "vault": id]
    }

    private func find(_ id: String) throws(KeyringFailure) -> (path: String, isLocked: Bool)? {
        try openSome()
        let answer = try call("SearchItems", of: "Service") { arguments throws(BusError) in
            try arguments.words(Self.attributes(of: id))
        }
        let (open, locked) = try reading { () throws(BusError) in (try answer.paths(), try answer.paths()) }
        return open.first.map { ($0, false) } ?? locked.first.map { ($0, true) }
    }

    /// Not encrypted: programs that can see the traffic may request the key as well (docs/decisions/0008).
    private func openSession() throws(KeyringFailure) -> String {
        let answer = try call("OpenSession", of: "Service") { arguments throws(BusError) in
            try arguments.string("plain")
            try arguments.inside("v", "s") { () throws(BusError) in try arguments.string("") }
        }
        return try reading { () throws(BusError) in
            try answer.skip("v")
            return try answer.path()
        }
    }

    /// Opens a collection if all are locked: then KeePassXC opens a window for a search, and the search waits for it (decision 38).
    private func openSome() throws(KeyringFailure) {
        let get = Bus.Method("Get", of: "org.freedesktop.DBus.Properties", at: Self.root, service: Self.service)
        var collections: [String]?
        do throws(BusError) {
            let answer = try bus.call(get, within: timeLeft) { arguments throws(BusError) in
                try arguments.string("org.freedesktop.Secret.Service")
                try arguments.string("Collections")
            }
            collections = try answer.inside("v", "ao") { () throws(BusError) in try answer.paths() }
        } catch {}
        // Without a list, the search itself reports the error.
        guard let collections else { return }
        for collection in collections where try !isLocked(collection) { return }
        try openDefault()
    }

    @discardableResult
    private func openDefault() throws(KeyringFailure) -> String {
        let answer = try call("ReadAlias", of: "Service") { arguments throws(BusError) in
            try arguments.string("default")
        }
        let collection = try reading { () throws(BusError) in try answer.path() }
        guard collection != Self.nothing else { throw .empty }
        if try isLocked(collection) { try unlock(collection) }
        return collection
    }

    private func isLocked(_ collection: String) throws(KeyringFailure) -> Bool {
        try reading { () throws(BusError) in
            try bus.property(
                "Locked", "b", of: "org.freedesktop.Secret.Collection", at: collection, service: Self.service,
                within: timeLeft
            ) { (answer) throws(BusError) in try answer.flag() }
        }
    }

    private func unlock(_ path: String) throws(KeyringFailure) {
        let answer = try call("Unlock", of: "Service") { arguments throws(BusError) in try arguments.paths([path]) }
        let (unlocked, prompt) = try reading { () throws(BusError) in (try answer.paths(), try answer.path()) }
        if prompt == Self.nothing, !unlocked.contains(path) { throw .locked }
        try follow(prompt)
    }

    /// Lets the keyring prompt the user, if it needs to and the user waits for it.
    ///
    /// - Parameter isNeeded: follow the prompt although the user does not wait.
    private func follow(_ prompt: String, unasked isNeeded: Bool = false) throws(KeyringFailure) {
        guard prompt != Self.nothing else { return }
        guard isNeeded || attempt == .asked else { throw .locked }
        var isDismissed: Bool?
        var isGone = false
        try reading { () throws(BusError) in
            try bus.onSignal("sender='\(Self.service)',path='\(prompt)',member='Completed'") { signal in
                isDismissed = (try? signal.flag()) ?? true
            }
            try bus.onSignal(Self.ownerRule) { _ in isGone = true }
        }
        try call("Prompt", of: "Prompt", at: prompt) { arguments throws(BusError) in try arguments.string("") }
        try reading { () throws(BusError) in
            _ = try bus.wait(for: timeLeft) { isDismissed != nil || isGone }
        }
        guard let isDismissed else {
            if isGone { throw .absent("it ended while it asked") }
            _ = try? call("Dismiss", of: "Prompt", at: prompt)
            throw .dismissed
        }
        if isDismissed { throw .dismissed }
    }

    // MARK: Calls

    static let ownerRule = "sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(service)'"
    /// The path that means "no object".
    private static let nothing = "/"

    private var timeLeft: Duration { max(end - .now, .milliseconds(1)) }

    @discardableResult
    private func call(
        _ name: String, of interface: String, at path: String = root, isSecret: Bool = false,
        _ arguments: (BusWriter) throws(BusError) -> Void = { _ in }
    ) throws(KeyringFailure) -> BusReader {
        let method = Bus.Method(
            name, of: "org.freedesktop.Secret.\(interface)", at: path, service: Self.service)
        return try reading { () throws(BusError) in
            try bus.call(method, within: timeLeft, isSecret: isSecret, arguments)
        }
    }

    private func reading<Result>(_ body: () throws(BusError) -> Result) throws(KeyringFailure) -> Result {
        do throws(BusError) { return try body() } catch { throw KeyringFailure(error) }
    }
}

extension BusReader {
    fileprivate func paths() throws(BusError) -> [String] { try list("o") { () throws(BusError) in try path() } }
}
