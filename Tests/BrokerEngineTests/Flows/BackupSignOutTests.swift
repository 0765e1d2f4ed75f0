import BrokerEngine
import BrokerModel
import BrokerTestSupport
import BrokerValues
import Testing

extension BackupFlowTests {
    private var desk: AppRegistration { Sample.app("desk", client: "client-2", group: "office") }

    @Test("an app that the person signed out of gets no tokens, while another app of its group uses the account")
    func signedOutOfOne() async throws {
        let here = try await bed(mail, desk)
        for app in [mail, desk] { try await here.signIn("alice", app) }
        let backup = try await export(here)
        var signOut = SignOutRequest(partition: Sample.partition, account: .username("alice"), correlationID: "c")
        signOut.app = mail
        _ = try await here.engine.signOut(signOut) { _ in }
        let report = try await restore(backup, to: here)
        #expect(
            report.problems == [
                "alice has signed out here, and is left so.", "alice is signed in here already, and is left so.",
            ])
        #expect(try report.isIdle && refreshTokens(here) == ["rt-2"])
    }

    @Test("a profile of another tenant does not sign in a person who has signed out")
    func otherProfile() async throws {
        let here = try await bed(mail)
        try await here.signIn("alice", mail)
        var record = try #require(try here.vault.loadAll(AccountRecord.self, in: Sample.partition).first).record
        record.realm = "elsewhere"
        let backup = try await here.vault.beginBackup(with: Self.passphrase, at: Sample.now)
        try backup.append(record, secret: nil)
        try backup.finish()
        let signOut = SignOutRequest(partition: Sample.partition, account: .username("alice"), correlationID: "c")
        _ = try await here.engine.signOut(signOut) { _ in }
        let report = try await restore(backup.take(atMost: .max), to: here)
        #expect(report.accounts.kept == 1 && report.isIdle)
        #expect(try here.engine.accounts(of: nil, includeSignedOut: false, in: Sample.partition).isEmpty)
    }

    @Test("an import that brings only a sign-out mark, and is refused by the disk, reports that")
    func refusedMark() async throws {
        let (here, there) = (try await bed(mail, desk), try await bed(mail, desk))
        for app in [mail, desk] { try await here.signIn("alice", app) }
        _ = try await here.engine.remove(.username("alice"), from: desk, in: Sample.partition)
        let backup = try await export(here)
        try await there.signIn("alice", mail)
        there.vault.failWriting(.full("The disk is full."))
        let error = await #expect(throws: BrokerError.self) { try await restore(backup, to: there) }
        #expect(error?.reason == .vaultNotWritable)
    }
}
