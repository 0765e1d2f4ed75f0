import FoundationEssentials

/// A person who can sign in. Passwords are plain text: these people do not exist.
package struct ProviderUser: Sendable, Equatable {
    package var username: String
    package var password: String
    package var name: String
    package var email: String

    package init(username: String, password: String, name: String? = nil) {
        self.username = username
        self.password = password
        self.name = name ?? username.prefix(1).uppercased() + username.dropFirst()
        email = username.contains("@") ? username : "\(username)@example.test"
    }

    /// Stable across restarts, so that a broker that outlives the provider identifies the same person again.
    package var subject: String {
        Digest.sha256.of("subject:\(username)".utf8).prefix(16).base64URLText
    }

    package static let samples = [
        ProviderUser(username: "alice", password: "alice-pw-1", name: "Alice Example"),
        ProviderUser(username: "bob", password: "bob-pw-1", name: "Bob Example"),
        ProviderUser(username: "carol", password: "carol-pw-1", name: "Carol Example"),
    ]
}
