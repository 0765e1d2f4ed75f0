import BrokerBus
import BrokerModel

/// Why the keyring did not do what was requested. No case means that a key is lost.
enum KeyringFailure: Error {
    /// There is no session bus, or nothing on it offers a keyring.
    case absent(String)
    /// A timeout.
    case silent
    case locked
    /// The user closed the prompt.
    case dismissed
    /// No collection is open: KeePassXC without a database.
    case empty
    case failed(String)

    init(_ error: BusError) {
        if error.isSilence {
            self = .silent
        } else if error.isAbsence || error.isDisconnection {
            self = .absent(error.text)
        } else if error.name?.hasSuffix(".IsLocked") == true {
            self = .locked
        } else {
            self = .failed(error.text)
        }
    }

    /// For a key that the vault needs: the broker waits for it.
    var awaitingKey: VaultError { .awaitingKey("\(sentence) The broker opens the vault by itself \(when).") }

    /// For a new key.
    var unavailable: VaultError {
        switch self {
        case .absent, .locked, .dismissed: .awaitingKey("\(sentence) \(advice)")
        case .silent, .empty, .failed: .keyUnavailable("\(sentence) \(advice)")
        }
    }

    private var sentence: String {
        switch self {
        case .absent(let text): "The vault's key belongs in the keyring, which cannot be reached (\(text))."
        case .silent: "The vault's key belongs in the keyring, which does not answer."
        case .locked: "The keyring is locked; unlock it, or have it ask by brokerctl unlock."
        case .dismissed: "The keyring is locked, and its question was closed; brokerctl unlock has it ask again."
        case .empty: "The keyring has nothing open (KeePassXC: no database that is shared as a keyring); open it."
        case .failed(let text): "The keyring failed: \(text)."
        }
    }

    private var when: String {
        switch self {
        case .absent: "as soon as it runs"
        case .silent, .failed: "as soon as it does; if not, restart the keyring"
        case .locked, .dismissed, .empty: "as soon as it is open"
        }
    }

    private var advice: String {
        switch self {
        case .absent, .silent, .failed: "Start it, then try again."
        case .locked, .dismissed, .empty: "Then try again."
        }
    }
}
