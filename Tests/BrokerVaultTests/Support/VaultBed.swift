import BrokerModel
import BrokerTestSupport
import BrokerVault
import BrokerVaultSQLite
import Foundation

/// A state directory of one test, and the vault's log.
struct VaultBed {
    let bed: TestBed
    let path: String
    let log = LogCollector()

    init(_ bed: TestBed, folder: String = "state") {
        self.bed = bed
        path = bed.path(folder)
    }

    /// The directory of the anchors.
    var anchors: String { path + ".anchors" }

    /// - Parameters:
    ///   - keySource: the only allowed source; without it, any.
    ///   - rows: the store, if it is not just one in the directory.
    ///   - idleDelay: long, because many tests examine the log; a slow machine must not empty it meanwhile.
    func open(
        keySource: (any KeySource)? = nil, rows: (any RowStore)? = nil,
        tidyingAfter idleDelay: Duration = .seconds(3600)
    ) async throws(VaultError) -> Vault {
        let directory = try StateDirectory.open(creating: path)
        let anchors = [try StateDirectory.open(creating: anchors)]
        guard let keySource else {
            let sources = KeySources.all(in: KeySourceContext(directory: directory))
            return try await Vault.open(
                in: directory, rows: rows ?? SQLiteStore(in: directory), keySources: KeySourceChoice(sources),
                anchors: anchors, at: 0, tidyingAfter: idleDelay, logger: log.logger)
        }
        return try await Vault.open(
            in: directory, keySource: keySource, anchors: anchors, tidyingAfter: idleDelay, logger: log.logger)
    }

    /// Opens the vault for one test of the files on disk.
    func use(rows: (any RowStore)? = nil, _ body: (Vault) async throws -> Void) async throws {
        let vault = try await open(rows: rows)
        do {
            try await body(vault)
        } catch {
            await vault.close()
            throw error
        }
        await vault.close()
    }

    func file(_ name: String) -> URL { URL(filePath: path).appending(path: name) }

    func bytes(_ name: String) throws -> Data { try Data(contentsOf: file(name)) }

    /// Every file of the directory, by name.
    func contents() throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: path)
        return try Dictionary(uniqueKeysWithValues: names.map { ($0, try bytes($0)) })
    }
}

func withVaultBed(_ body: (VaultBed) async throws -> Void) async throws {
    try await withTestBed { try await body(VaultBed($0)) }
}

extension VaultError {
    /// Its text, if it is of this kind: `text(of: VaultError.damaged)`.
    func text(of kind: (String) -> VaultError) -> String? { self == kind(description) ? description : nil }
}

/// The error of a vault call, nil if it succeeds.
func vaultError(_ body: () async throws -> Void) async throws -> VaultError? {
    do {
        try await body()
        return nil
    } catch let error as VaultError {
        return error
    }
}
