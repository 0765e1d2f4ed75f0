import BrokerModel

/// An ID token as a parameter of a URL that a browser opens.
enum IDTokenHint {
    /// In bytes. Servers accept request lines of 8 KiB (nginx's and Apache's default), and other parameters need room as well.
    private static let longest = 4 << 10

    /// - Returns: `nil` if the token would make the URL too long: without the hint, the provider asks the user.
    static func inAddress(_ token: Secret) -> Secret? { token.count <= longest ? token : nil }
}
