import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues

/// Events as text. Pure.
package enum EventText {
    /// - Parameter name: the username of an account's id.
    package static func line(_ event: Link.Notification, now: NumericDate, name: (String) -> String) -> String {
        (words(event, now, name) ?? json(event)).clean
    }

    /// The notification's name and params, verbatim.
    package static func json(_ event: Link.Notification) -> String {
        var writer = JSONWriter()
        writer.string(event.method)
        let params = JSONText.line(event.params, readable: false).dropLast()
        return "{\"method\":\(String(decoding: writer.bytes, as: UTF8.self)),\"params\":\(params)}"
    }

    private static func words(_ event: Link.Notification, _ now: NumericDate, _ name: (String) -> String) -> String? {
        switch event.method {
        case AccountEvent.name: (try? AccountEvent.Params(reading: event.params)).flatMap(account)
        case TokenEvent.name: (try? TokenEvent.Params(reading: event.params)).flatMap { token($0, now, name) }
        case InteractionEvent.name: (try? InteractionEvent.Params(reading: event.params)).flatMap(interaction)
        case GrantNotification.name: (try? GrantNotification.Params(reading: event.params)).flatMap(grant)
        default: nil
        }
    }

    private static func account(_ event: AccountEvent.Params) -> String? {
        switch event.change {
        case .signedIn: "\(event.app): \(event.account.username) signed in at \(event.account.environment)"
        case .signedOut: "\(event.app): \(event.account.username) signed out"
        case .removed: "\(event.app): \(event.account.username) was removed from all apps of the group"
        case nil: nil
        }
    }

    private static func token(_ event: TokenEvent.Params, _ now: NumericDate, _ name: (String) -> String) -> String? {
        switch event.change {
        case .acquired:
            let expiry = event.expiresOn.map { ", expires " + TimeText.relative($0, to: now) } ?? ""
            return
                "\(event.app): a new token of \(name(event.accountId)) for \(event.scopes.joined(separator: " "))\(expiry)"
        case .refreshTokenRejected:
            let (who, id) = (name(event.accountId), event.accountId)
            // A name that is not this person's alone has the id beside it.
            let account = who.isExactly(id) ? [] : ["--account", who.hasSuffix("(id \(id))") ? id : who]
            return "\(event.app): the provider ended the sign-in of \(who); to sign in again: "
                + ShellText.command(["brokerctl", "login", "--app", event.app] + account)
        case nil: return nil
        }
    }

    private static func interaction(_ event: InteractionEvent.Params) -> String? {
        switch event.change {
        case .opened:
            "\(event.app): a sign-in waits for the person" + (event.caller.map { ", requested by \($0)" } ?? "")
        case .succeeded: "\(event.app): the sign-in is done"
        case .failed: "\(event.app): the sign-in ended without success (\(event.errorKind?.rawValue ?? "unknown"))"
        case nil: nil
        }
    }

    private static func grant(_ event: GrantNotification.Params) -> String? {
        guard let app = event.grant?.app ?? event.request?.app,
            let caller = event.grant?.caller.id ?? event.request?.caller.id
        else { return nil }
        let id = event.request?.id ?? ""
        return switch event.change {
        case .requested: "\(app): \(caller) asks for it; answer with: brokerctl grants approve \(id), or deny \(id)"
        case .approved: "\(app): \(caller) may use it"
        case .denied: "\(app): \(caller) may not use it"
        case .revoked: "\(app): \(caller) may not use it any more"
        case .expired: "\(app): nobody answered \(caller) in time"
        case nil: nil
        }
    }
}
