import BrokerValues

package enum LockBroker: OwnershipMethod {
    package static let name = "broker.lock"
    package static let summary = "Drops every key and secret from memory."
    package static let description = """
        From now on requests are answered with locked. Refreshes in progress are finished first, sign-ins that wait \
        for a person are ended; the answer comes after all keys have left memory.
        """
    package static let worksLocked = true
    package static let isIdempotent = true
    package static let errors: [ErrorKind] = [.accessDenied]
    package static let resultName = "lock"
    package typealias Params = Empty
    package typealias Result = LockState
}

package enum UnlockBroker: OwnershipMethod {
    package static let name = "broker.unlock"
    package static let summary = "Fetches the vault's key from its source again."
    package static let description = """
        The source recorded in the vault is tried first, then the added ones (keys.setSource). After a wrong passphrase the same caller's next \
        attempt waits, longer each time; other callers and other requests do not.
        """
    package static let worksLocked = true
    package static let isIdempotent = true
    package static let errors: [ErrorKind] = [.accessDenied, .locked, .throttled]
    package static let resultName = "lock"
    package typealias Result = LockState

    package struct Params: ParamsObject {
        package var passphrase: String?
        package init() {}
        package init(passphrase: String?) { self.passphrase = passphrase }
        package static let members: [Member<Params>] = [
            .optional(
                "passphrase", \.passphrase, "Only for a passphrase, as the usual source or an added one.",
                .passphrase)
        ]
    }
}

package struct LockState: MessageObject, Equatable {
    package var locked = false
    package init() {}
    package init(locked: Bool) { self.locked = locked }
    package static let members: [Member<LockState>] = [.required("locked", \.locked, "Whether the vault is locked.")]
}

extension Rule<String> {
    /// One line of arbitrary characters.
    static var passphrase: Rule { text(atMost: 1024) }
}
