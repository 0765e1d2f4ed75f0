import BrokerValues

/// One method of the protocol. A method is a file: its params, its result, its documentation and who may call it;
/// requests are decoded and let in, answers encoded and the OpenRPC document written from that one definition.
///
/// A method conforms to one of ``PersonMethod``, ``AppMethod``, ``AppOrPersonalMethod``, ``AdministrationMethod``
/// and ``OwnershipMethod``.
package protocol BrokerMethod: Sendable {
    associatedtype Params: ParamsObject
    associatedtype Result: WireValue
    /// As on the wire: `noun.verb`.
    static var name: String { get }
    static var summary: String { get }
    /// A few sentences: what it does, what it never does.
    static var description: String { get }
    static var permission: Permission { get }
    /// What a sandbox needs that came by a socket of its own; nil where it needs nothing, and for administration, which it
    /// never has.
    static var right: SandboxRight? { get }
    /// Whether it does without the vault's keys: the others are answered with `locked` while the broker is.
    static var worksLocked: Bool { get }
    /// Whether more may be kept of the person's than before: who has no room left is refused.
    static var addsRecords: Bool { get }
    /// Whether the person has to show that they are there, where the administrator asks for that (`admin.proof`).
    static func presence(for params: Params) -> PresenceNeed
    /// Whether carrying it out twice where once was meant does no harm: whether a client may ask again when it did not
    /// see the answer.
    static var isIdempotent: Bool { get }
    /// What a caller should be ready for, most likely first; `internal` and wrong params go without saying.
    static var errors: [ErrorKind] { get }
    /// What the result is called in the document.
    static var resultName: String { get }
}

extension BrokerMethod {
    package static var isIdempotent: Bool { false }
    package static var worksLocked: Bool { false }
    package static var addsRecords: Bool { false }
    package static func presence(for params: Params) -> PresenceNeed { .none }

    /// ``errors``, and what every method of its kind has to expect.
    static var everyError: [ErrorKind] { worksLocked || errors.contains(.locked) ? errors : errors + [.locked] }
}

/// What a caller needs for a method, decided before any work starts. The peer's uid is checked before all of these, and
/// whoever names an app must be allowed to act as it, whatever the method.
package enum Permission: String, Sendable, CaseIterable {
    /// Any process of the person.
    case person
    /// A process that policy or a grant lets act as the app that the request names.
    case app
    /// With an app as ``app``. Without one it is about all of the person's, which is for the person's own tools.
    case appOrPersonal
    /// A process that may change which apps there are.
    case administration
    /// As ``administration``; where the broker serves many users, of root.
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

/// Something the broker tells a client unasked.
package protocol BrokerNotification: Sendable {
    associatedtype Params: MessageObject
    static var name: String { get }
    static var summary: String { get }
}
