import BrokerModel
import BrokerValues

/// Records with unique words, for searches.
enum Sample {
    static let me = Partition(uid: 1000)
    static let other = Partition(uid: 1001)
    static let username = "friederike.quandt@stadtwerke.example"
    static let clientID = "kalender-client-7f3a"
    static let issuer = "https://anmeldung.stadtwerke.example/mandant"
    static let scopes = ["kalender.lesen", "kalender.schreiben"]
    static let accessToken = "eyJhbGciOiJub25lIn0.zugangs-merkmal." + String(repeating: "Qx7-", count: 400)
    static let refreshToken = "erneuerungs-merkmal-0123456789"

    static func owner(_ clientID: String = clientID) -> TokenOwner {
        TokenOwner(
            group: GroupID(rawValue: "group:buerowerkzeug"), clientID: clientID,
            homeAccountID: HomeAccountID(subject: "quandt-4711", issuer: issuer),
            environment: "anmeldung.stadtwerke.example")
    }

    static func accessToken(
        _ clientID: String = clientID, scopes: [String] = scopes, expiresOn: NumericDate = 2_000_000_000
    ) -> AccessTokenRecord {
        AccessTokenRecord(
            owner: owner(clientID), realm: "mandant", scopes: scopes, tokenType: .bearer, authority: issuer,
            expiresOn: expiresOn, cachedAt: 1_700_000_000)
    }

    static func refreshToken(_ clientID: String = clientID) -> RefreshTokenRecord {
        RefreshTokenRecord(owner: owner(clientID), authority: issuer, scopes: scopes, cachedAt: 1_700_000_000)
    }

    static func account(_ username: String = username) -> AccountRecord {
        AccountRecord(
            group: owner().group, homeAccountID: HomeAccountID(subject: username, issuer: issuer),
            environment: owner().environment, realm: "mandant", authority: issuer, username: username,
            name: "Friederike Quandt", claims: ["department": "Netzleitstelle"], createdAt: 1_700_000_000)
    }
}

extension RecordVault {
    /// Seals one record and makes it durable.
    @discardableResult
    func store<Record: VaultRecord>(
        _ record: Record, secret: String? = nil, in partition: Partition = Sample.me
    ) async throws -> StoredRecord<Record> {
        let stored = try seal(record, secret: secret.map { Secret($0) }, in: partition)
        try await commit(VaultChange(in: partition, puts: [stored.sealed]))
        return stored
    }

    /// A client's access tokens, in the clear.
    func accessTokens(of clientID: String = Sample.clientID, in partition: Partition = Sample.me) throws -> [String] {
        try load(AccessTokenRecord.self, bucket: Sample.owner(clientID).bucket, in: partition)
            .map { try secret(of: $0.sealed).revealed() }
    }
}
