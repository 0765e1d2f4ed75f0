import BrokerModel

/// An ID token as a parameter of an address that a browser opens.
enum IDTokenHint {
    /// Bytes. Servers take request lines of 8 KiB (nginx's and Apache's default), and others than this one want room in it.
    private static let longest = 4 << 10

    /// - Returns: nil for one that would make the address too long: without the hint, the provider asks the person.
    static func inAddress(_ token: Secret) -> Secret? { token.count <= longest ? token : nil }
}
