import BrokerTestSupport
import BrokerValues
import DevIdentityProvider
import Foundation
import Testing

@Suite("An app's default account") struct DefaultAccountTests {
    private static let passphrase = "correct horse battery staple\n"

    private func chosen(_ broker: BrokerProcess) async throws -> String {
        try await broker.ctl(["accounts", "default", "--app", "notes"]).output
    }

    @Test(
        "the vault stores the choice, through restarts, sign-ins and backups, until its account is removed")
    func choice() async throws {
        try await withTestBed { bed in
            var scene = try await DevelopmentScene.make(in: bed)
            let alice = try await scene.signIn(.alice)
            let bob = try await scene.signIn(.bob)
            let token = ["token", "--app", "notes", "--scope", DevelopmentScene.scope, "--json"]
            #expect(try await scene.broker.ctl(token).status == .exited(4))
            let name = bob.token.text("account.username")
            let made = try await scene.broker.ctl(["accounts", "default", name, "--app", "notes"])
            #expect(made.succeeded && made.output.contains(name), "\(made)")
            #expect(try await scene.broker.ctl(token).output.contains(bob.token.text("account.id")))
            // A direct request to the broker must still name an account.
            await #expect { try await scene.silent() } throws: { ($0 as? Refusal)?.kind == "ambiguousAccount" }

            try await scene.restart()
            try await scene.signIn(.bob)
            #expect(try await chosen(scene.broker).contains(name))
            let file = bed.path("broker.backup")
            let saved = try await scene.broker.ctl(["cache", "export", file, "--stdin"], input: Self.passphrase)
            #expect(saved.output.contains("1 app, 2 accounts, 2 refresh tokens. Access tokens and grants"), "\(saved)")
            let other = try await BrokerProcess.start(in: bed)
            let merged = try await other.ctl(["cache", "import", file, "--stdin"], input: Self.passphrase)
            #expect(merged.succeeded, "\(merged)")
            #expect(try await chosen(other).contains(name))
            #expect(try await other.ctl(token).output.contains(name))

            // The later choice counts, wherever it was made.
            let again = try await scene.broker.ctl(
                ["accounts", "default", alice.token.text("account.username"), "--app", "notes"])
            #expect(again.succeeded, "\(again)")
            #expect(try await scene.broker.ctl(token).output.contains(alice.token.text("account.id")))
            let forgotten = try await scene.broker.ctl(
                ["accounts", "forget", alice.token.text("account.username"), "--yes"])
            #expect(forgotten.succeeded, "\(forgotten)")
            #expect(try await chosen(scene.broker) == "notes has no default account.\n")
            #expect(try await scene.broker.ctl(["accounts", "default", "--clear", "--app", "notes"]).succeeded)
            #expect(try await !scene.broker.ctl(["accounts", "default", "nobody", "--app", "notes"]).succeeded)
        }
    }

    @Test("an account whose refresh token was refused is not listed as signed in")
    func refused() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            let signIn = try await scene.signIn(.alice)
            func list(_ more: [String] = []) async throws -> String {
                try await scene.broker.ctl(["accounts", "list"] + more).output
            }
            #expect(try await list().contains("  signed in  "))
            scene.provider.expire(.refreshTokens)
            await #expect { try await scene.silent(["forceRefresh": true]) } throws: {
                ($0 as? Refusal)?.kind == "interactionRequired"
            }
            // Its existing token remains until then.
            for more in [[], ["--app", "notes"]] {
                #expect(try await list(more).contains("signed in, ends in"), "\(more)")
            }
            let shown = try await scene.broker.ctl(["accounts", "show", signIn.token.text("account.username")])
            #expect(shown.output.contains("signed in, ends in"), "\(shown)")
            try await scene.signIn(.alice)
            #expect(try await list().contains("  signed in  "))
        }
    }
}
