import BrokerValues

/// The broker's knowledge about a client at a provider (unified cache schema, `AppMetadata`): whether it belongs to a family,
/// whose clients may use each other's refresh tokens. Holds no secret. Absent means unknown.
package struct AppMetadataRecord: VaultRecord {
    package static let kind = RecordKind.appMetadata
    package var group: GroupID
    package var clientID: String
    package var environment: String
    /// `nil` if it belongs to none.
    package var familyID: String?
    /// The provider returned no refresh token although the request asked for one according to its metadata: true if it may return
    /// one for `prompt=consent` (OpenID Connect Core, section 11); false if that was tried. `nil` if unknown.
    package var refreshTokenTakesConsent: Bool?
    /// The provider refused a request because of `offline_access`, which only the broker had added (decision 17).
    package var refusesOfflineAccess: Bool?
    /// Other fields of an imported record; kept, not used.
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
