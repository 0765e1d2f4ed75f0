import BrokerValues

package enum GetKeyStatus: AdministrationMethod {
    package static let name = "keys.status"
    package static let summary = "Where the vault's key comes from."
    package static let description = "Names sources and times, but no part of any key."
    package static let worksLocked = true
    package static let isIdempotent = true
    package static let errors: [ErrorKind] = [.accessDenied]
    package static let resultName = "key"
    package typealias Params = Empty
    package typealias Result = KeyState
}

package enum RotateKey: OwnershipMethod {
    package static let name = "keys.rotate"
    package static let summary = "Gives the vault a new data key."
    package static let description = """
        It is on disk before the answer. The records are resealed with it afterwards, in the background, and can be \
        read at any time; a broker that is stopped in the meantime continues at its next start.
        """
    package static let errors: [ErrorKind] = [.accessDenied, .locked]
    package static let resultName = "key"
    package typealias Params = Empty
    package typealias Result = KeyState
}

package enum SetKeySource: OwnershipMethod {
    package static let name = "keys.setSource"
    package static let summary = "Changes the source of the vault's key."
    package static let description = """
        The data key is rewrapped; the records are unchanged. With the vault's current source it gets a new \
        passphrase. If it fails, nothing is changed. With the place beside it is one more source that opens the vault, such as a \
        passphrase for another machine; with removed, an added one no longer opens it.
        """
    package static let errors: [ErrorKind] = [.accessDenied, .locked]
    package static let resultName = "key"
    package typealias Result = KeyState
    package static func presence(for params: Params) -> PresenceNeed { .always() }

    package struct Params: ParamsObject {
        package var source = ""
        package var passphrase: String?
        package var place = KeySourcePlace.instead
        package init() {}
        package init(source: String, passphrase: String? = nil, place: KeySourcePlace = .instead) {
            self.source = source
            self.passphrase = passphrase
            self.place = place
        }
        package static let members: [Member<Params>] = [
            .required("source", \.source, "One of keys.status' available.", .name(atMost: 64)),
            .optional("passphrase", \.passphrase, "Only for the source passphrase.", .passphrase),
            .defaulted(
                "place", \.place, "Instead of the source that the vault has, beside it, or no longer beside it.",
                to: .instead),
        ]
    }
}

extension KeySourcePlace: WireChoice {}

package struct KeyState: MessageObject, Equatable {
    package var source = ""
    package var added: [String]?
    package var wrappedOn: NumericDate?
    package var available: [String] = []
    package var resealing = false

    package init() {}

    package static let members: [Member<KeyState>] = [
        .required("source", \.source, "Where the key comes from."),
        .optional("added", \.added, "Further sources that open the vault, where there are any."),
        .optional("wrappedOn", \.wrappedOn, "When the data key was last wrapped; absent where the vault does not say."),
        .required("available", \.available, "Where it could come from here and now."),
        .required("resealing", \.resealing, "Whether records are still sealed with the data key before."),
    ]
}
