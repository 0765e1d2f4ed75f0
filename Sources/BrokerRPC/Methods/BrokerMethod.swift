import BrokerValues

/// One method of the protocol. A method is a file: its params, its result, its documentation and its permission. That one
/// definition decodes and admits requests, encodes responses and generates the OpenRPC document.
///
/// A method conforms to one of ``PersonMethod``, ``AppMethod``, ``AppOrPersonalMethod``, ``AdministrationMethod``
/// and ``OwnershipMethod``.
package protocol BrokerMethod: Sendable {
    associatedtype Params: ParamsObject
    associatedtype Result: WireValue
    /// The name on the wire: `noun.verb`.
    static var name: String { get }
    static var summary: String { get }
    /// A few sentences: what the method does and what it never does.
    static var description: String { get }
    static var permission: Permission { get }
    /// The right that a sandbox with a socket of its own needs; `nil` if it needs none, and for administration, which it
    /// never has.
    static var right: SandboxRight? { get }
    /// Whether it works without the vault's keys: all others return `locked` while the broker is locked.
    static var worksLocked: Bool { get }
    /// Whether it may add to the person's records: a person without room left is refused.
    static var addsRecords: Bool { get }
    /// Whether the person must prove their presence if the administrator requires that (`admin.proof`).
    static func presence(for params: Params) -> PresenceNeed
    /// Whether executing it twice instead of once does no harm: then a client may repeat the request if it did not
    /// receive the response.
    static var isIdempotent: Bool { get }
    /// The errors that a caller should expect, most likely first; `internal` and invalid params are implied.
    static var errors: [ErrorKind] { get }
    /// The name of the result in the document.
    static var resultName: String { get }
}

extension BrokerMethod {
    package static var isIdempotent: Bool { false }
    package static var worksLocked: Bool { false }
    package static var addsRecords: Bool { false }
    package static func presence(for params: Params) -> PresenceNeed { .none }

    /// ``errors`` and those common to all methods of its kind.
    static var everyError: [ErrorKind] { worksLocked || errors.contains(.locked) ? errors : errors + [.locked] }
}

/// The permission that a method requires, checked before any work starts. The peer's uid is checked before all of these, and
/// a caller that names an app must be allowed to act as it, regardless of the method.
package enum Permission: String, Sendable, CaseIterable {
    /// Any process of the person.
    case person
    /// A process that policy or a grant allows to act as the named app.
    case app
    /// With an app, like ``app``. Without one it concerns all of the person's apps, which is reserved for the person's own tools.
    case appOrPersonal
    /// A process that may add and remove apps.
    case administration
    /// Like ``administration``; if the broker serves many users, root only.
    case ownership

    var description: String {
        switch self {
        case .person: "any process of the person"
        case .app: "a process that may act as the app it names"
        case .appOrPersonal: "a process that may act as the app it names; without an app, one outside of sandboxes"
        case .administration: "a process that may change which apps there are"
        case .ownership: "a process that may change which apps there are; in system mode, root's"
        }
    }
}

/// See ``Permission/person``.
package protocol PersonMethod: BrokerMethod where Params.NamedApp == NoApp {}
extension PersonMethod {
    package static var permission: Permission { .person }
    package static var right: SandboxRight? { nil }
}

/// See ``Permission/app``.
package protocol AppMethod: BrokerMethod where Params: AppParams {}
extension AppMethod {
    package static var permission: Permission { .app }
}

/// See ``Permission/appOrPersonal``.
package protocol AppOrPersonalMethod: BrokerMethod where Params: OptionalAppParams {}
extension AppOrPersonalMethod {
    package static var permission: Permission { .appOrPersonal }
}

/// See ``Permission/administration``.
package protocol AdministrationMethod: BrokerMethod {}
extension AdministrationMethod {
    package static var permission: Permission { .administration }
    package static var right: SandboxRight? { nil }
}

/// See ``Permission/ownership``.
package protocol OwnershipMethod: BrokerMethod {}
extension OwnershipMethod {
    package static var permission: Permission { .ownership }
    package static var right: SandboxRight? { nil }
}

/// A message that the broker sends to a client without a request.
package protocol BrokerNotification: Sendable {
    associatedtype Params: MessageObject
    static var name: String { get }
    static var summary: String { get }
}
