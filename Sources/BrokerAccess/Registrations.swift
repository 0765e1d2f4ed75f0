import BrokerModel
import BrokerValues

/// One registration as written, and its meaning with the current providers. It never changes.
final class Registration: Sendable {
    let record: AppRecord
    private let clientSecret: Secret?
    /// `PATH:LINE` of the file that it is from; `nil` for one of the vault.
    let origin: String?
    /// Its rough size in bytes.
    let weight: Int
    /// The app; `nil` if the record's authority does not fit the kind of its provider. It was checked before it was written, but
    /// the provider's kind may have been changed since.
    let app: AppRegistration?

    init(_ record: AppRecord, clientSecret: Secret?, origin: String? = nil, by authorities: AuthorityParser) {
        self.record = record
        self.origin = origin
        let clientSecret = clientSecret?.kept
        self.clientSecret = clientSecret
        weight = record.description.roughBytes + (clientSecret?.count ?? 0)
        app = authorities.recorded(record.authority).map { authority in
            var app = AppRegistration(
                record.description, authority: authority, clientSecret: clientSecret,
                isInstanceAware: record.isInstanceAware)
            app.secretMethod = record.secretMethod
            app.origin = origin
            return app
        }
    }

    func read(by authorities: AuthorityParser) -> Registration {
        Registration(record, clientSecret: clientSecret, origin: origin, by: authorities)
    }
}

/// The registrations of one partition, by name.
struct Registrations: Sendable {
    private var byName: [String: Registration] = [:]
    /// Their rough size in bytes.
    private(set) var weight = 1_024

    subscript(name: String) -> Registration? {
        get { byName[name] }
        set {
            weight += (newValue?.weight ?? 0) - (byName[name]?.weight ?? 0)
            byName[name] = newValue
        }
    }

    var count: Int { byName.count }

    /// - Returns: an existing name of the app or its group that has other bytes.
    func otherSpelling(of app: AppDescription) -> String? {
        let names = byName[app.name].map { ($0.record.name, app.name) }
        let groups = byName.values.lazy.compactMap(\.record.description.group).map { ($0, app.group ?? $0) }
        return ([names].compactMap(\.self) + groups)
            .first { known, name in known == name && !known.utf8.elementsEqual(name.utf8) }?.0
    }

    /// The usable apps, ordered by name.
    var apps: [AppRegistration] { byName.values.compactMap(\.app).sorted { $0.name < $1.name } }

    /// Names of apps that are unusable at present.
    var useless: [String] { byName.values.filter { $0.app == nil }.map(\.record.name) }

    /// All apps of the group: an unusable one may be usable again after the next reload.
    func members(of group: GroupID) -> [GroupMember] {
        byName.values.map(\.record).filter { $0.effectiveGroup == group }.sorted { $0.name < $1.name }
            .map { GroupMember($0) }
    }

    /// Adds the apps of files.
    ///
    /// - Returns: the entries that break the rules for registrations; they are ignored.
    mutating func add(
        _ files: [AppFileEntry], by authorities: AuthorityParser
    ) -> [(entry: AppFileEntry, error: BrokerError)] {
        var unfit: [(AppFileEntry, BrokerError)] = []
        for entry in files {
            let registration = Registration(
                AppRecord(entry), clientSecret: nil, origin: entry.origin, by: authorities)
            do throws(BrokerError) {
                if let app = registration.app { try AppRules.check(app) }
                self[entry.description.name] = registration
            } catch {
                unfit.append((entry, error))
            }
        }
        return unfit
    }

    func read(by authorities: AuthorityParser) -> Registrations {
        var copy = self
        copy.byName = byName.mapValues { $0.read(by: authorities) }
        return copy
    }
}

extension AppDescription {
    /// The entries of apps and callers in lists, in addition to the short names.
    var lists: [String] {
        scopes + executables + units + sandboxIDs + (resources ?? []) + (query ?? [:]).flatMap { [$0.key, $0.value] }
    }

    fileprivate var roughBytes: Int { lists.reduce(4_096) { $0 + $1.utf8.count + 32 } }
}
