/// The app of a request.
package enum AppReference: Sendable, Hashable {
    /// A registered app, by its name.
    case registered(String)
    /// A caller's own client id, used without a registration.
    case adHoc(clientID: String, authority: String)
}

/// Takes the place of an app in requests that name none.
package struct NoApp: Sendable {
    package init() {}
}
