import BrokerValues

/// What is known about a client at a provider (unified cache schema, `AppMetadata`): whether it belongs to a family, whose
/// refresh tokens its clients may all spend. Holds no secret. Absent means that nobody knows yet.
package struct AppMetadataRecord: VaultRecord {
    package static let kind = RecordKind.appMetadata
    package var group: GroupID
    package var clientID: String
    package var environment: String
    /// Nil: it belongs to none.
    package var familyID: String?
    /// The provider gave no refresh token although one was asked for as its metadata offer it: true, where it may give one to
    /// whoever asks with `prompt=consent` (OpenID Connect Core, section 11); false, where it was tried. Nil: nobody knows.
    package var refreshTokenTakesConsent: Bool?
    /// The provider refused a request for the sake of `offline_access`, which only the broker had added (decision 122).
    package var refusesOfflineAccess: Bool?
    /// What an imported record had besides; kept, not used.
    package var extra: JSONObject?

    package init(group: GroupID, clientID: String, environment: String, familyID: String?, extra: JSONObject? = nil) {
        self.group = group
        self.clientID = clientID
        self.environment = environment
        self.familyID = familyID
        self.extra = extra
    }

    package var bucket: [String] { [group.rawValue, clientID, environment] }
    package var item: [String] { [] }
}
