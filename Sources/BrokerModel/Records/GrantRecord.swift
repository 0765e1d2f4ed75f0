import BrokerValues

/// What a person allowed a caller. Holds no secret.
package struct GrantRecord: VaultRecord {
    package static let kind = RecordKind.grant
    package var grant: Grant
    /// ``AppRegistration/identity`` of the app: a name alone could be another kind of app's.
    package var app: String
    /// What the app was when the person agreed (``AppRegistration/grantBinding``): another client is not meant.
    package var binding: String

    package init(grant: Grant, app: AppRegistration) {
        self.grant = grant
        self.app = app.identity
        binding = app.grantBinding
    }

    package var bucket: [String] { [] }
    package var item: [String] { [grant.id] }
}

extension AppRegistration {
    /// What a person agrees to lies behind this: whose client it is, where it signs in, and with whom it shares accounts.
    package var grantBinding: String {
        [description.clientID, authority.url, effectiveGroup.rawValue].joined(separator: "\n")
    }

    /// As ``Grant/app``.
    package var grantName: String { isAdHoc ? identity : description.name }
}
