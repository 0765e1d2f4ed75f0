import BrokerAccess
import BrokerModel
import BrokerValues
import BrokerVault
import Foundation
import Logging

/// A policy and a directory over a real vault in a folder of its own.
final class AccessBed: Sendable {
    let directory: AppDirectory
    let policy: AccessPolicy
    private let folder: String
    let vault: CountingVault
    let log = LoggedApps()

    static let partition = Partition(uid: 1000)
    private static let silent = Logger(label: "test", factory: SwiftLogNoOpLogHandler.init)

    init(_ change: (inout AccessSettings) -> Void = { _ in }) async throws {
        folder = NSTemporaryDirectory() + "access-\(UUID().uuidString)"
        vault = CountingVault(try await Self.open(folder))
        directory = AppDirectory(vault: vault, log: log.logger)
        var settings = AccessSettings(servedUID: 1000)
        change(&settings)
        policy = AccessPolicy(directory: directory, settings: settings, log: Self.silent)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// The directory as the next start of the broker finds it.
    func reopened(_ authorities: AuthorityParser = AuthorityParser()) async throws -> AppDirectory {
        await vault.real.close()
        return AppDirectory(vault: try await Self.open(folder), authorities: authorities, log: log.logger)
    }

    private static func open(_ folder: String) async throws -> Vault {
        let state = try StateDirectory.open(creating: folder)
        return try await Vault.open(in: state, keySource: KeyFileSource(in: state), logger: silent)
    }

    static func app(_ name: String = "mail", authority: String = "https://id.example.org") -> AppRegistration {
        guard let authority = try? Authority(parsing: authority, allowHTTPLoopback: true) else {
            fatalError("the test's own authority is none: \(authority)")
        }
        return AppRegistration(name: name, clientID: "client-1", authority: authority)
    }

    func caller(_ change: (inout PeerFacts) -> Void = { _ in }) throws -> Caller {
        var facts = PeerFacts.outside
        change(&facts)
        return try policy.identify(facts)
    }
}

extension PeerFacts {
    /// A program of the person's own, in a session of theirs.
    static var outside: PeerFacts {
        var facts = PeerFacts(uid: 1000, gid: 1000, pid: 4711)
        facts.isPinned = true
        (facts.rootMount, facts.userNamespace, facts.pidNamespace) = (.same, .same, .same)
        facts.cgroup = ControlGroup(path: "/user.slice/user-1000.slice/session-3.scope")
        facts.executable = "/home/alice/bin/tool"
        return facts
    }
}
