import BrokerModel

/// The second try of a request after a failure that is most often over a moment later.
enum SecondTry {
    /// The same pause as in MSAL.
    private static let pause = Duration.milliseconds(500)

    /// Waits until it is time for the second try.
    ///
    /// - Returns: false if there is none: at once after another failure, or because the task is canceled.
    static func follows(_ failure: ProviderError, by clock: any BrokerClock) async -> Bool {
        guard failure.isLikelyTransient else { return false }
        return (try? await clock.sleep(for: pause)) != nil
    }
}

extension ProviderError {
    /// A 5xx that was received whole, from a provider that does not give a time to wait. A gateway timeout (504) does
    /// not tell what the provider did.
    fileprivate var isLikelyTransient: Bool {
        if case .unavailable(let status, nil, _) = self { status >= 500 && status != 504 } else { false }
    }
}
