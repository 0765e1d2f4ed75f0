import BrokerValues

/// The access that a user granted to a caller. Holds no secret.
package struct GrantRecord: VaultRecord {
    package static let kind = RecordKind.grant
    package var grant: Grant
    /// ``AppRegistration/identity`` of the app: a name alone could be another kind of app's.
    package var app: String
    /// The app's state when the user consented (``AppRegistration/grantBinding``): another client does not match.
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
    /// The properties that consent depends on: the client's owner, where it signs in, and with whom it shares accounts.
    package var grantBinding: String {
        [description.clientID, authority.url, effectiveGroup.rawValue].joined(separator: "\n")
    }

    /// The same as ``Grant/app``.
    package var grantName: String { isAdHoc ? identity : description.name }
}
