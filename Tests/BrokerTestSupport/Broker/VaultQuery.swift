import Foundation

extension TestBed {
    /// The result of a query on a vault that a broker has open and does not write. The broker uses the file exclusively while it is
    /// open (decision 7), so the shell reads a copy.
    package func query(_ sql: String, ofVaultIn folder: String) async throws -> String {
        let copy = path("vault-copy-\(UUID().uuidString)")
        try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
        for name in ["vault.db", "vault.db-wal"] where FileManager.default.fileExists(atPath: "\(folder)/\(name)") {
            try FileManager.default.copyItem(atPath: "\(folder)/\(name)", toPath: "\(copy)/\(name)")
        }
        return try await require("sqlite3", ["\(copy)/vault.db", sql])
    }
}
