import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

@Suite("A guest in another tenant")
struct GuestFlowTests {
    private static let home = "bbbbcccc-1111-dddd-2222-eeee3333ffff"
    private static let cloud = "login.microsoftonline.com"
    private static let guest = Sample.authority("https://\(cloud)/\(ProviderDouble.tenant)")

    private let app = Sample.app(at: Sample.authority("https://\(Self.cloud)/common"))

    /// A broker that knows Alice in her home tenant, at a provider that names that tenant as her home.
    private func bed() async throws -> EngineBed {
        let bed = try await EngineBed()
        bed.roster.set([app])
        bed.provider.whenRedeeming { [unowned provider = bed.provider] _ in
            var response = provider.tokens(for: "alice")
            response.clientInfo = Base64URL.encode(Array(#"{"uid":"alice","utid":"\#(Self.home)"}"#.utf8))
            return response
        }
        let alice = AccountRecord(
            group: app.effectiveGroup, homeAccountID: HomeAccountID(userID: "alice", tenantID: Self.home),
            environment: Self.cloud, realm: Self.home, authority: "https://\(Self.cloud)/\(Self.home)",
            username: "alice", tenantID: Self.home, createdAt: Sample.now)
        let sealed = try bed.vault.seal(alice, secret: nil, in: Sample.partition).sealed
        try await bed.vault.commit(VaultChange(in: Sample.partition, puts: [sealed]))
        return bed
    }

    private func signIn(_ bed: EngineBed) async throws -> Account {
        try await bed.signIn("alice", bed.interactive(app) { $0.authority = Self.guest }).account
    }

    private func signedIn(_ bed: EngineBed) throws -> [String] {
        try bed.engine.accounts(of: app, includeSignedOut: false, in: Sample.partition).map(\.id)
    }

    @Test("a person who signs in there after a full sign-out is signed in: for silent requests, lists and removal")
    func signedInAgain() async throws {
        let bed = try await bed()
        let alice = try await signIn(bed)
        #expect(alice.tenantProfiles?.map(\.tenantId) == [Self.home, ProviderDouble.tenant])
        let request = SignOutRequest(
            partition: Sample.partition, account: .id(alice.id), correlationID: "correlation-1")
        #expect(try await bed.engine.signOut(request) { _ in }.local == .done)
        #expect(try signedIn(bed).isEmpty)

        #expect(try await signIn(bed).signedIn)
        #expect(bed.engine.cached(bed.silent(app) { $0.authority = Self.guest }) != nil)
        #expect(try signedIn(bed) == [alice.id])
        let everywhere = try bed.engine.accounts(of: nil, includeSignedOut: false, in: Sample.partition)
        #expect(everywhere.map(\.id) == [alice.id])
        #expect(try await bed.engine.remove(.id(alice.id), from: app, in: Sample.partition) == 3)
    }
}
