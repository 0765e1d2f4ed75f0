import BrokerModel
import BrokerValues

/// Whether a sign-in of nobody in particular must ask for the password: when everybody has signed out, nobody expects to be
/// signed in again by a click, whatever session the browser still has (MSAL, "Interactive"). Pure.
package enum LoginAfterSignOut {
    /// - Parameters:
    ///   - known: the app's group.
    ///   - otherClouds: where its people may be at home as well.
    package static func isDue(
        among known: KnownAccounts, for app: AppRegistration, at authority: Authority, otherClouds: Set<String> = []
    ) -> Bool {
        let here = known.entries.filter { $0.fits(authority, otherClouds) }
        // An account that was only removed from an app has not said goodbye to the browser.
        return here.contains { !$0.stored.record.signedIn } && !here.contains { known.isSignedIn($0, for: app) }
    }
}
