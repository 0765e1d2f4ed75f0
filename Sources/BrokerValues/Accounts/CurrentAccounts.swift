/// The accounts of an app that uses one account at a time.
package struct CurrentAccounts: Sendable, Equatable {
    package var current: Account?
    /// The current account when the app last signed in or asked, if it is another one.
    package var previous: Account?
    /// The account that was signed out of the app last, if it is not the current one.
    package var lastSignedOut: Account?

    package init(current: Account? = nil, previous: Account? = nil, lastSignedOut: Account? = nil) {
        self.current = current
        self.previous = previous
        self.lastSignedOut = lastSignedOut
    }
}
