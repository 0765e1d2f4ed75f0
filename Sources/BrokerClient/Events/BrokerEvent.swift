import BrokerRPC
import BrokerValues
import FoundationEssentials

/// An event of the accounts, tokens and sign-ins of an app's group.
///
/// No event contains a token: request one when you need it.
public enum BrokerEvent: Sendable {
    /// The account is signed in, for the first time or again.
    case accountSignedIn(Account)
    /// The account is signed out of one app or of all.
    case accountSignedOut(Account)
    /// No app of the group has the account any more.
    case accountRemoved(Account)
    /// There is a new access token: the cache answers a silent request for these scopes.
    case tokenAcquired(accountIdentifier: String, scopes: [String], expiresOn: Date)
    /// The provider revoked the sign-in: the next request for a new token needs the person.
    case signInWithdrawn(accountIdentifier: String)
    /// A sign-in waits for the person.
    case signInOpened(interactionId: String)
    /// A sign-in has ended.
    case signInEnded(interactionId: String, succeeded: Bool)
}

/// The events that an app subscribes to.
public enum BrokerEventTopic: Sendable, Hashable, CaseIterable {
    /// Accounts signed in, signed out, removed.
    case accounts
    /// New access tokens, and sign-ins that the provider withdrew.
    case tokens
    /// Sign-ins that wait for the person, and their end.
    case signIns
}

extension EventTopic {
    init(_ topic: BrokerEventTopic) {
        switch topic {
        case .accounts: self = .account
        case .tokens: self = .token
        case .signIns: self = .interaction
        }
    }
}

extension BrokerEvent {
    /// Creates an event from a notification; `nil` for an event of a newer broker that this library does not know.
    init?(_ notification: Link.Notification) {
        switch notification.method {
        case AccountEvent.name:
            guard let event = try? AccountEvent.Params(reading: notification.params) else { return nil }
            let account = Account(event.account)
            switch event.change {
            case .signedIn: self = .accountSignedIn(account)
            case .signedOut: self = .accountSignedOut(account)
            case .removed: self = .accountRemoved(account)
            case nil: return nil
            }
        case TokenEvent.name:
            guard let event = try? TokenEvent.Params(reading: notification.params) else { return nil }
            switch event.change {
            case .acquired:
                self = .tokenAcquired(
                    accountIdentifier: event.accountId, scopes: event.scopes,
                    expiresOn: Date(timeIntervalSince1970: TimeInterval(event.expiresOn ?? 0)))
            case .refreshTokenRejected: self = .signInWithdrawn(accountIdentifier: event.accountId)
            case nil: return nil
            }
        case InteractionEvent.name:
            guard let event = try? InteractionEvent.Params(reading: notification.params) else { return nil }
            switch event.change {
            case .opened: self = .signInOpened(interactionId: event.interactionId)
            case .succeeded: self = .signInEnded(interactionId: event.interactionId, succeeded: true)
            case .failed: self = .signInEnded(interactionId: event.interactionId, succeeded: false)
            case nil: return nil
            }
        default: return nil
        }
    }
}
