import BrokerValues

package enum WatchToken: AppMethod {
    package static let name = "token.watch"
    package static let summary = "A token like token.acquireSilent, and each next one before it expires."
    package static let description = """
        The answer also has the name of the watch. From then on this connection gets event.tokenChanged with each new token, \
        and event.tokenEnded once, when there are no more: the account was signed out or removed, a grant or the app was \
        removed, the broker was locked, only the person can help, or the provider could not be reached before the token \
        expired. Each renewal counts as a silent request of the caller. The watch is for the account of the first token; \
        forceRefresh and rejectedToken apply to that one only. It ends with token.unwatch or with the connection, which can have \
        64.
        """
    package static let isIdempotent = true
    package static let right: SandboxRight? = .token
    package static let addsRecords = true
    package static let errors = AcquireTokenSilent.errors
    package static let resultName = "token"
    package typealias Params = AcquireTokenSilent.Params
    package typealias Result = Token
}
