/// Of an app that has one account at a time.
package struct CurrentAccounts: Sendable, Equatable {
    package var current: Account?
    /// Who was signed out last, if that is somebody else.
    package var previous: Account?

    package init(current: Account? = nil, previous: Account? = nil) {
        self.current = current
        self.previous = previous
    }
}
