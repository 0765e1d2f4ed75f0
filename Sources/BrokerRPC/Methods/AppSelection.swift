import BrokerValues

/// Params that say for which app a request is made: `app`, or `clientId` and `authority`.
package protocol AppSelecting: ParamsObject {
    var app: String? { get set }
    var clientId: String? { get set }
    var authority: String? { get set }
}

/// The app a request is for.
package enum AppSelection: Sendable, Equatable {
    case registered(String)
    case adHoc(clientID: String, authority: String)
}

extension AppSelecting {
    /// Nil when the params name none.
    package var selection: AppSelection? {
        if let app { return .registered(app) }
        guard let clientId, let authority else { return nil }
        return .adHoc(clientID: clientId, authority: authority)
    }

    package mutating func select(_ selection: AppSelection) {
        switch selection {
        case .registered(let name): app = name
        case .adHoc(let clientID, let issuer):
            clientId = clientID
            authority = issuer
        }
    }

    /// The key paths come from the type itself: through the protocol each use would be a call and a copy.
    static func appMembers(
        _ app: WritableKeyPath<Self, String?> & Sendable, _ clientId: WritableKeyPath<Self, String?> & Sendable,
        _ authority: WritableKeyPath<Self, String?> & Sendable, authority summary: String
    ) -> [Member<Self>] {
        [
            .optional(
                "app", app, "Name of a registered app. Either this, or clientId and authority.", .name(atMost: 128)),
            .optional(
                "clientId", clientId, "A client id used without a registration, where policy allows it.",
                .name(atMost: 512)),
            .optional("authority", authority, summary, .text(atMost: 2048)),
        ]
    }

    /// What ``appMembers(_:_:_:authority:)`` says of an authority that may stand beside `app`.
    static var overridableAuthority: String {
        "Issuer URL: with clientId the app's, with app another one for this request only (a guest's tenant)."
    }

    /// An authority that may stand beside `app` overrides the app's own for this request.
    func checkSelection(isRequired: Bool, authorityMayStandBesideApp: Bool = false) throws(WireError) {
        if app != nil, clientId != nil {
            throw WireError("cannot be given together with \"app\"", field: "clientId")
        }
        if app != nil, authority != nil, !authorityMayStandBesideApp {
            throw WireError("cannot be given together with \"app\"", field: "authority")
        }
        guard app == nil else { return }
        if clientId != nil, authority == nil {
            throw WireError("is missing; \"clientId\" needs it", field: "authority")
        }
        if clientId == nil, authority != nil {
            throw WireError("is missing; \"authority\" needs it, or \"app\"", field: "clientId")
        }
        if isRequired, clientId == nil {
            throw WireError("is missing; give it, or \"clientId\" and \"authority\"", field: "app")
        }
    }
}
