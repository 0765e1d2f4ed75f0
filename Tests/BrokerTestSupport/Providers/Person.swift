import Foundation

/// Someone with a user name and a password at a test provider.
package struct Person: Sendable {
    package var name: String
    package var password: String

    package init(name: String, password: String) {
        self.name = name
        self.password = password
    }

    package static let alice = Person(name: "alice", password: "alice-pw-1")
    package static let bob = Person(name: "bob", password: "bob-pw-1")
}

/// The provider's final redirect of the browser: the redirect URI with its query.
package struct ProviderRedirect: Sendable {
    package var url: String

    package init(url: String) { self.url = url }

    /// A parameter of the redirect (`code`, `error`, `state`, `iss`).
    package subscript(name: String) -> String? {
        URLComponents(string: url)?.queryItems?.first { $0.name == name }?.value
    }
}
