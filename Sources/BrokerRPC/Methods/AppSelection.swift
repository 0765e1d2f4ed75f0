import BrokerValues

/// How params name an ``AppReference``: `app`, or `clientId` and `authority`.
package struct AppSelection: Sendable, Equatable {
    package var app: String?
    package var clientId: String?
    package var authority: String?

    package init(_ reference: AppReference? = nil) {
        switch reference {
        case .registered(let name): app = name
        case .adHoc(let clientID, let issuer): (clientId, authority) = (clientID, issuer)
        case nil: break
        }
    }

    /// An authority other than the app's own, for this request only; together with `clientId` it is the app's own.
    package var otherAuthority: String? { app == nil ? nil : authority }

    fileprivate func reference(takesOtherAuthority: Bool) throws(WireError) -> AppReference? {
        if let app {
            guard clientId == nil else { throw Self.notTogether("clientId") }
            guard authority == nil || takesOtherAuthority else { throw Self.notTogether("authority") }
            return .registered(app)
        }
        switch (clientId, authority) {
        case (let clientID?, let authority?): return .adHoc(clientID: clientID, authority: authority)
        case (_?, nil): throw WireError("is missing; \"clientId\" needs it", field: "authority")
        case (nil, _?): throw WireError("is missing; \"authority\" needs it, or \"app\"", field: "clientId")
        case (nil, nil): return nil
        }
    }

    private static func notTogether(_ field: String) -> WireError {
        WireError("cannot be given together with \"app\"", field: field)
    }

    fileprivate static func members(takesOtherAuthority: Bool) -> [Member<AppSelection>] {
        [
            .optional(
                "app", \.app, "Name of a registered app. Either this, or clientId and authority.", .name(atMost: 128)),
            .optional(
                "clientId", \.clientId, "A client id used without a registration, where policy allows it.",
                .name(atMost: 512)),
            .optional(
                "authority", \.authority,
                takesOtherAuthority
                    ? "Issuer URL: with clientId the app's, with app another one for this request only (a guest's tenant)."
                    : "Issuer URL, with clientId.", .text(atMost: 2048)),
        ]
    }
}

/// Params that name the app of a request.
package protocol AppSelecting: ParamsObject {
    var selection: AppSelection { get set }
    /// Whether an authority is allowed together with `app`: ``AppSelection/otherAuthority``.
    static var takesOtherAuthority: Bool { get }
}

/// Params that must name an app.
package protocol AppParams: AppSelecting where NamedApp == AppReference {}

/// Params that may name an app.
package protocol OptionalAppParams: AppSelecting where NamedApp == AppReference? {}

extension AppSelecting {
    package static var takesOtherAuthority: Bool { false }

    static func appMembers(_ selection: WritableKeyPath<Self, AppSelection> & Sendable) -> [Member<Self>] {
        AppSelection.members(takesOtherAuthority: takesOtherAuthority).inside(selection)
    }
}

extension AppParams {
    package func namedApp() throws(WireError) -> AppReference {
        guard let reference = try selection.reference(takesOtherAuthority: Self.takesOtherAuthority) else {
            throw WireError("is missing; give it, or \"clientId\" and \"authority\"", field: "app")
        }
        return reference
    }
}

extension OptionalAppParams {
    package func namedApp() throws(WireError) -> AppReference? {
        try selection.reference(takesOtherAuthority: Self.takesOtherAuthority)
    }
}
