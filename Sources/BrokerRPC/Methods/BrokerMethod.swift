import BrokerValues

/// One method of the protocol. A method is a file: its params, its result and its documentation; requests are decoded,
/// answers encoded and the OpenRPC document written from that one definition.
package protocol BrokerMethod: Sendable {
    associatedtype Params: ParamsObject
    associatedtype Result: WireValue
    /// As on the wire: `noun.verb`.
    static var name: String { get }
    static var summary: String { get }
    /// A few sentences: what it does, what it never does.
    static var description: String { get }
    static var permission: Permission { get }
    /// What a caller should be ready for, most likely first; `internal` and wrong params go without saying.
    static var errors: [ErrorKind] { get }
    /// What the result is called in the document.
    static var resultName: String { get }
}

/// What a caller needs for a method, decided before any work starts. The peer's uid is checked before all of these.
package enum Permission: String, Sendable, CaseIterable {
    /// Any process of the person.
    case person
    /// A process that policy lets act as the app that the request names.
    case app
    /// A process that may change which apps there are.
    case administration

    var description: String {
        switch self {
        case .person: "any process of the person"
        case .app: "a process that may act as the app it names"
        case .administration: "a process that may change which apps there are"
        }
    }
}

/// Something the broker tells a client unasked.
package protocol BrokerNotification: Sendable {
    associatedtype Params: MessageObject
    static var name: String { get }
    static var summary: String { get }
}
