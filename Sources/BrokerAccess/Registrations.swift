import BrokerModel
import BrokerValues

/// One registration as it was written, and what it means as providers are configured now. It never changes.
final class Registration: Sendable {
    let record: AppRecord
    private let clientSecret: Secret?
    /// `PATH:LINE` of the file that it stands in; nil for one of the vault.
    let origin: String?
    /// Roughly the bytes it takes.
    let weight: Int
    /// Nil when the record's authority is none that the kind of its provider has. It was checked before it was written,
    /// but a provider may be said to be of another kind since.
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
    /// Roughly the bytes they take.
    private(set) var weight = 1_024

    subscript(name: String) -> Registration? {
        get { byName[name] }
        set {
            weight += (newValue?.weight ?? 0) - (byName[name]?.weight ?? 0)
            byName[name] = newValue
        }
    }

    var count: Int { byName.count }

    /// - Returns: what the app or its group is called already by others, in other bytes.
    func otherSpelling(of app: AppDescription) -> String? {
        let names = byName[app.name].map { ($0.record.name, app.name) }
        let groups = byName.values.lazy.compactMap(\.record.description.group).map { ($0, app.group ?? $0) }
        return ([names].compactMap(\.self) + groups)
            .first { known, name in known == name && !known.utf8.elementsEqual(name.utf8) }?.0
    }

    /// Ordered by name; without those that are of no use at present.
    var apps: [AppRegistration] { byName.values.compactMap(\.app).sorted { $0.name < $1.name } }

    /// Names of apps that nobody can act as at present.
    var useless: [String] { byName.values.filter { $0.app == nil }.map(\.record.name) }

    /// All of the group: what is of no use now may be so again after the next reload.
    func members(of group: GroupID) -> [GroupMember] {
        byName.values.map(\.record).filter { $0.effectiveGroup == group }.sorted { $0.name < $1.name }
            .map { GroupMember($0) }
    }

    /// - Returns: those that no registration may look like; they count for nothing.
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
    /// What apps and callers are listed with, beside the names that are short.
    var lists: [String] {
        scopes + executables + units + sandboxIDs + (resources ?? []) + (query ?? [:]).flatMap { [$0.key, $0.value] }
    }

    fileprivate var roughBytes: Int { lists.reduce(4_096) { $0 + $1.utf8.count + 32 } }
}
