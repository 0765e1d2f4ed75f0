import BrokerEngine
import BrokerModel
import BrokerRPC

extension JSONWriter {
    /// Writes the token's object; its secrets go from guarded memory into the answer and nowhere else.
    ///
    /// - Throws: when a secret does not open; what was written until then must be taken back.
    mutating func token(
        _ acquired: AcquiredToken, correlationID: String, from vault: any RecordVault
    ) throws(VaultError) {
        let record = acquired.token.record
        beginToken(
            TokenFacts(
                tokenType: record.tokenType, expiresOn: record.expiresOn, extendedExpiresOn: record.extendedExpiresOn,
                scopes: record.scopes, account: acquired.account, authority: record.authority,
                correlationID: correlationID, fromCache: acquired.fromCache,
                extendedLifetime: acquired.extendedLifetime, persisted: acquired.persisted))
        try vault.withSecret(of: acquired.token.sealed) { accessToken(record.tokenType, $0) }
        if let sealed = acquired.idToken {
            try vault.withSecret(of: sealed) { idToken($0) }
        }
        endObject()
    }
}
