import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerTokenCache
import BrokerValues
import BrokerVault
import BrokerVaultSQLite
import Glibc
import Logging

/// `broker-parts PART TIMES`: runs one part of a cached request again and again, for counting its instructions
/// (`Tests/Benchmarks/parts`). The result does not depend on the machine's speed or load.
@main
enum Main {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let times = Int(arguments[2]) else { return fail("usage: broker-parts PART TIMES") }
        do {
            let parts = try await Parts()
            switch arguments[1] {
            case "read": try parts.repeated(times) { try parts.read() }
            case "look-up": try parts.repeated(times) { try parts.lookUp() }
            case "open": try parts.repeated(times) { try parts.open() }
            case "lend": try parts.repeated(times) { try parts.lend() }
            case "write": try parts.repeated(times) { try parts.write() }
            case "seal": try parts.repeated(times) { try parts.seal() }
            default: fail("there is no part \(arguments[1])")
            }
            await parts.close()
        } catch {
            fail("\(error)")
        }
    }

    static func fail(_ text: String) {
        let line = Array("broker-parts: \(text)\n".utf8)
        _ = Glibc.write(STDERR_FILENO, line, line.count)
        exit(1)
    }
}

struct Wrong: Error {}

/// One account with one token, in a separate vault.
struct Parts: Sendable {
    private let vault: Vault
    private let index: CacheIndex
    private let stored: StoredRecord<AccessTokenRecord>
    private let refreshToken: StoredRecord<RefreshTokenRecord>
    private let owner: OwnerKey
    private let line: [UInt8]
    private let folder: String
    private let secret = Secret(String(repeating: "t", count: 800))
    private let now: NumericDate = 1_800_000_000

    init() async throws {
        var template = Array("/tmp/broker-parts-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { throw Wrong() }
        folder = String(cString: made)
        let directory = try StateDirectory.open(creating: folder)
        vault = try await Vault.open(
            in: directory, rows: SQLiteStore(in: directory),
            keySources: KeySourceChoice([KeyFileSource(in: directory)]), at: 0, tidyingAfter: .seconds(3600),
            logger: Logger(label: "parts") { _ in SwiftLogNoOpLogHandler() })
        let partition = Partition(uid: 1000)
        let record = AccessTokenRecord(
            owner: TokenOwner(
                group: GroupID(rawValue: "app:mail"), clientID: "client",
                homeAccountID: HomeAccountID(subject: "subject", issuer: "https://id.example"),
                environment: "id.example"),
            realm: "", scopes: ["openid", "mail.read"], tokenType: .bearer, authority: "https://id.example",
            expiresOn: now + 3600, cachedAt: now)
        stored = try vault.seal(record, secret: secret, in: partition)
        refreshToken = try vault.seal(
            RefreshTokenRecord(owner: record.owner, authority: record.authority, scopes: record.scopes, cachedAt: now),
            secret: secret, in: partition)
        try await vault.commit(VaultChange(in: partition, puts: [stored.sealed]))
        owner = OwnerKey(partition: partition, owner: record.owner)
        index = CacheIndex(vault: vault)
        _ = try index.loadTokens(of: owner)
        line = AcquireTokenSilent.requestLine(
            id: 1, AcquireTokenSilent.Params(.registered("mail"), scopes: ["mail.read"]))
    }

    func close() async {
        await vault.close()
        for name in ["vault.db", "vault.key", "vault.lock"] { unlink("\(folder)/\(name)") }
        rmdir(folder)
    }

    func repeated(_ times: Int, _ body: () throws -> Void) rethrows { for _ in 0..<times { try body() } }

    /// The line of a request, with its params.
    func read() throws {
        guard case .single(.call(let call)) = line.withUnsafeBytes({ RequestLine($0) }) else { throw Wrong() }
        _ = try AcquireTokenSilent.read(call)
    }

    /// The token in memory that answers it.
    func lookUp() throws {
        let question = CacheQuestion(
            scopes: Scopes(["mail.read"]), realm: "", rule: ExpiryRule(now: now, buffer: 300))
        guard let tokens = index.tokens(of: owner), case .cached = SilentDecision.decide(question, from: tokens) else {
            throw Wrong()
        }
    }

    /// A secret whose box is opened each time.
    func open() throws { try look(at: refreshToken.sealed) }

    /// A secret that was opened before.
    func lend() throws { try look(at: stored.sealed) }

    private func look(at sealed: SealedRecord) throws {
        var count = 0
        try vault.withSecret(of: sealed) { count = $0.count }
        guard count == secret.count else { throw Wrong() }
    }

    /// The answer, with an access token of 800 bytes.
    func write() throws {
        var facts = Token()
        (facts.expiresOn, facts.scopes, facts.authority, facts.fromCache) = (
            now, ["mail.read"], "https://id.example", true
        )
        facts.account = Account(
            id: "1", username: "ann", name: "Ann", environment: "id.example", tenantId: "", homeAccountId: "h",
            authority: "https://id.example", claims: ["sub": "s"])
        var writer = JSONWriter()
        writer.beginToken(facts, correlationID: "c")
        secret.withBytes { writer.accessToken(.bearer, $0) }
        writer.endObject()
        guard writer.bytes.count > secret.count else { throw Wrong() }
    }

    func seal() throws { _ = try vault.seal(stored.record, secret: secret, in: owner.partition) }
}
