import BrokerModel
import BrokerTestSupport
import BrokerVault
import Foundation
import Testing

@Suite("A vault whose key systemd seals")
struct SealedKeyTests {
    private func text(_ error: VaultError?) -> String {
        guard case .keyUnavailable(let text) = error else {
            Issue.record("\(String(describing: error))")
            return ""
        }
        return text
    }

    @Test("the service seals and opens the key under its own name, and the vault contains no key")
    func opens() async throws {
        try await withVaultBed { bed in
            let double = try SealingDouble(in: bed.bed)
            let source = CredentialSource(in: nil, sealedBy: double.service)
            #expect(await source.isAvailable())
            for _ in 0..<2 {
                let vault = try await bed.open(keySource: source)
                #expect(!vault.isLocked)
                try await vault.store(Sample.refreshToken(), secret: "r")
                await vault.close()
            }
            let names = Set(double.calls.map { $0.split(separator: " ")[1] })
            #expect(names.count == 1 && names.first?.hasPrefix("token-broker-") == true, "\(double.calls)")
            #expect(try !bed.contents().keys.contains("vault.key"))
        }
    }

    @Test("a unit's credential takes precedence, and neither form opens a vault of the other")
    func forms() async throws {
        try await withVaultBed { bed in
            let double = try SealingDouble(in: bed.bed)
            let directory = try bed.bed.makeDirectory("credentials")
            try Data(repeating: 1, count: 32).write(to: URL(filePath: "\(directory)/vault-key"))
            let both = CredentialSource(in: directory, sealedBy: double.service)
            await (try await bed.open(keySource: both)).close()
            #expect(double.calls.isEmpty)
            let sealed = CredentialSource(in: nil, sealedBy: double.service)
            let error = try await vaultError { _ = try await bed.open(keySource: sealed) }
            #expect(text(error).contains("systemd gave this broker no credentials"))
            #expect(double.calls.isEmpty)

            let other = VaultBed(bed.bed, folder: "other")
            await (try await other.open(keySource: sealed)).close()
            await (try await other.open(keySource: both)).close()
            #expect(double.calls.last?.hasPrefix("io.systemd.Credentials.Decrypt ") == true, "\(double.calls)")
        }
    }

    @Test("the vault is locked while the service does not answer, and opens when it does")
    func away() async throws {
        try await withVaultBed { bed in
            let double = try SealingDouble(in: bed.bed)
            let source = CredentialSource(in: nil, sealedBy: double.service)
            await (try await bed.open(keySource: source)).close()
            double.behave(.hangsUp)
            let vault = try await bed.open(keySource: source)
            #expect(vault.isLocked)
            #expect(bed.log.text.contains("brokerctl unlock"), "\(bed.log.text)")
            double.behave(.seals)
            try await vault.unlock(passphrase: nil)
            #expect(!vault.isLocked)
            await vault.close()
            await (try await bed.open(keySource: CredentialSource(in: nil, sealedBy: CredentialService(at: "/none"))))
                .close()
            #expect(bed.log.text.contains("No such file"), "\(bed.log.text)")
        }
    }

    @Test(
        "a refusal or an invalid answer of the service is explained, and nothing is overwritten",
        arguments: [
            (SealingDouble.Behaviour.refuses, "io.systemd.Credentials.BadFormat"), (.says("no"), "not a JSON object"),
            (.says("[]"), "not a JSON object"), (.says(#"{"parameters":{"data":"?"}}"#), "lacks"),
            (.says("{}"), "lacks"),
        ])
    func refused(behaviour: SealingDouble.Behaviour, word: String) async throws {
        try await withVaultBed { bed in
            let double = try SealingDouble(in: bed.bed)
            let source = CredentialSource(in: nil, sealedBy: double.service)
            await (try await bed.open(keySource: source)).close()
            let before = try bed.bytes("vault.db")
            double.behave(behaviour)
            let said = text(try await vaultError { _ = try await bed.open(keySource: source) })
            for part in [word, "the machine, and for the user", "move vault.db away"] {
                #expect(said.contains(part), "\(said)")
            }
            #expect(try bed.bytes("vault.db") == before)
        }
    }

    @Test("an answer with another key opens nothing")
    func foreign() async throws {
        try await withVaultBed { bed in
            let double = try SealingDouble(in: bed.bed)
            let source = CredentialSource(in: nil, sealedBy: double.service)
            await (try await bed.open(keySource: source)).close()
            double.behave(.says(#"{"parameters":{"data":"\#(Data(repeating: 7, count: 32).base64EncodedString())"}}"#))
            let error = try await vaultError { _ = try await bed.open(keySource: source) }
            #expect(error?.text(of: VaultError.wrongKey) != nil)
        }
    }

    @Test("a new vault without either form is refused with instructions")
    func neither() async throws {
        try await withVaultBed { bed in
            let source = CredentialSource(in: nil, sealedBy: CredentialService(at: "/none"))
            #expect(await !source.isAvailable())
            let said = text(try await vaultError { _ = try await bed.open(keySource: source) })
            for part in ["systemd 256", "LoadCredentialEncrypted=vault-key", "another source"] {
                #expect(said.contains(part), "\(said)")
            }
        }
    }
}
