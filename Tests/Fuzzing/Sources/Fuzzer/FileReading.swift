import BrokerConfig
import BrokerEngine
import BrokerModel
import BrokerValues
import BrokerVault
import Glibc

/// The URL of a redirect, as in `interaction.complete`, or the query of the listener.
func readRedirect(_ bytes: UnsafeRawBufferPointer) {
    let text = String(decoding: bytes, as: UTF8.self)
    var expected = RedirectCheck.Expectation(state: "state", issuer: "https://provider.example", requiresIssuer: true)
    expected.redirectURI = "http://127.0.0.1:1234/redirect"
    for redirect in [RedirectParameters(redirectURL: text[...]), RedirectParameters(query: text[...])] {
        switch RedirectCheck.judge(redirect, against: expected) {
        case .code: precondition(redirect["state"] == "state" && redirect["iss"] != nil, "a code of somebody else's")
        case .refused(let refusal):
            let isShown = refusal.error.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
            precondition(isShown, "a provider's text with a control character")
        case .otherCloud, .foreign, .unacceptable: break
        }
    }
}

/// A configuration file, without apps.
func readConfiguration(_ bytes: UnsafeRawBufferPointer) {
    write(bytes, to: "\(folder)/config.toml")
    let loaded = try? ConfigurationLoader(files: .only("\(folder)/config.toml")).load()
    precondition(loaded != nil || !mustAccept, "a valid seed was refused")
}

/// An app's file, with an empty configuration.
func readApps(_ bytes: UnsafeRawBufferPointer) {
    write(UnsafeRawBufferPointer(start: nil, count: 0), to: "\(folder)/config.toml")
    write(bytes, to: "\(folder)/apps.d/app.toml")
    guard let loaded = try? ConfigurationLoader(files: .only("\(folder)/config.toml")).load() else {
        fatalError("an app's file keeps the broker from starting")
    }
    let apps = loaded.configuration.apps
    precondition(apps.mistakes.isEmpty || apps.entries.isEmpty, "a file with a mistake counts")
    let areWhole = apps.entries.allSatisfy { !$0.description.clientID.isEmpty && !$0.authority.isEmpty }
    precondition(areWhole, "an app without what it needs")
    precondition(!apps.entries.isEmpty || !mustAccept, "a valid seed was refused")
}

/// A cache that MSAL saved.
func readUnifiedCache(_ bytes: UnsafeRawBufferPointer) {
    guard case .object(let file)? = try? JSONReader.read(bytes).value else { return }
    let cache = UnifiedCache(file)
    for problem in cache.problems {
        precondition(problem.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
    }
    let common = "https://login.microsoftonline.com/common"
    guard let authority = Authority.issuer(common) else { fatalError("no authority") }
    let app = AppRegistration(AppDescription(name: "app", clientID: "c"), authority: authority)
    let plan = ImportPlan(cache, for: app, now: 1_800_000_000)
    precondition(!mustAccept || !plan.accounts.isEmpty, "a valid seed was refused")
}

/// A sealed row, as any earlier version may have written it.
func readRecords(_ bytes: UnsafeRawBufferPointer) {
    guard let node = try? JSONReader.read(bytes) else { return }
    func read<Record: VaultRecord>(_ type: Record.Type) {
        guard let record = try? JSONNodeDecoder.decode(type, from: node) else { return }
        _ = record.key
    }
    read(AccountRecord.self)
    read(AccessTokenRecord.self)
    read(RefreshTokenRecord.self)
    read(IDTokenRecord.self)
    read(ProofKeyRecord.self)
    read(AppRecord.self)
    read(AppMetadataRecord.self)
    read(SignOutRecord.self)
    read(GrantRecord.self)
    read(AuditBlockRecord.self)
    read(AuditHeadRecord.self)
    read(ProviderDocumentRecord.self)
    read(PartitionOwnerRecord.self)
}

/// The state of a run over the seeds that are named valid.
let mustAccept = getenv("FUZZ_VALID") != nil

private let folder: String = {
    var template = Array("/dev/shm/fuzz-XXXXXX".utf8CString)
    guard let path = mkdtemp(&template) else { fatalError("no folder") }
    let folder = String(cString: path)
    mkdir("\(folder)/apps.d", 0o700)
    return folder
}()

private func write(_ bytes: UnsafeRawBufferPointer, to path: String) {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    precondition(file >= 0)
    _ = Glibc.write(file, bytes.baseAddress, bytes.count)
    close(file)
}
