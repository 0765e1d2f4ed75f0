import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Synchronization
import Testing

/// `invalid_grant` with `user_account_deleted`, as MSAL reads it (decision 19).
@Suite("An account that its provider deleted")
struct DeletedAccountTests {
    private let mail = Sample.app("mail", client: "client-1", group: "office")
    private let calendar = Sample.app("calendar", client: "client-2", group: "office")
    private let notes = Sample.app("notes", client: "client-3")

    private static let refusal = ProviderError.refused(
        OAuthRefusal(error: "invalid_grant", subError: "user_account_deleted", status: 400))

    private func names(_ app: AppRegistration, _ bed: EngineBed) throws -> [String] {
        try bed.engine.accounts(of: app, includeSignedOut: true, in: Sample.partition).map(\.username)
    }

    private func refuse(_ bed: EngineBed) {
        bed.provider.whenRedeeming { _ throws(ProviderError) in throw Self.refusal }
    }

    @Test("is removed from its group with all tokens, while other people and groups keep theirs")
    func removed() async throws {
        let bed = try await EngineBed()
        bed.roster.set([mail, calendar, notes])
        for app in [mail, calendar, notes] { try await bed.signIn("alice", app) }
        try await bed.signIn("bob", mail)
        let removed = Mutex<[Account]>([])
        let subscription = try bed.engine.subscribe(to: [.account], group: nil, in: Sample.partition) { event in
            if case .account(.removed, let account) = event.change { removed.withLock { $0.append(account) } }
        }
        refuse(bed)
        let error = await #expect(throws: BrokerError.self) {
            try await bed.engine.acquireSilent(
                bed.silent(mail) {
                    $0.query.account = .username("alice")
                    $0.forceRefresh = true
                })
        }
        #expect(error?.kind == .interactionRequired && error?.reason == .accountDeleted)
        #expect(error?.message.contains("was deleted") == true)
        #expect(error?.details.subError == "user_account_deleted")
        #expect(removed.withLock { $0.map(\.username) } == ["alice"])
        #expect(removed.withLock { $0.map(\.signedIn) } == [false])
        #expect(try names(mail, bed) == ["bob"])
        #expect(try names(notes, bed) == ["alice"])
        let left = try bed.vault.loadAll(RefreshTokenRecord.self, in: Sample.partition).map(\.record.owner)
        #expect(left.count { $0.homeAccountID.rawValue.hasPrefix("alice") } == 1)
        withExtendedLifetime(subscription) {}
    }

    @Test("stays if a sign-in replaced the refused token meanwhile")
    func signedInAgain() async throws {
        let bed = try await EngineBed()
        try await bed.signIn("alice", mail)
        let gate = Gate()
        bed.provider.whenRedeeming { [unowned provider = bed.provider] grant async throws(ProviderError) in
            guard case .refreshToken = grant else { return provider.tokens(for: "alice") }
            await gate.wait()
            throw Self.refusal
        }
        let request = bed.silent(mail) { $0.forceRefresh = true }
        let refresh = Task { try await bed.engine.acquireSilent(request) }
        try await bed.provider.waitForRefreshes()
        try await bed.signIn("alice", mail)
        gate.open()
        _ = try? await refresh.value
        #expect(try names(mail, bed) == ["alice"])
        #expect(try bed.vault.loadAll(RefreshTokenRecord.self, in: Sample.partition).count == 1)
    }

    @Test("is removed at once, although the provider accepted the token before")
    func reusable() async throws {
        let bed = try await EngineBed()
        try await bed.signIn("alice", mail)
        bed.provider.whenRedeeming { [unowned provider = bed.provider] _ in
            var response = provider.tokens(for: "alice")
            response.refreshToken = nil
            return response
        }
        _ = try await bed.engine.acquireSilent(bed.silent(mail) { $0.forceRefresh = true })
        refuse(bed)
        await #expect(throws: BrokerError.self) {
            try await bed.engine.acquireSilent(bed.silent(mail) { $0.forceRefresh = true })
        }
        #expect(try names(mail, bed).isEmpty)
    }
}
