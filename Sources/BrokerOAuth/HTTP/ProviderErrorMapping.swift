import BrokerModel
import BrokerValues

extension ProviderError {
    /// Translates a missing response into a provider error.
    ///
    /// For a document that is only read (`isRepeatable`), an unknown outcome is the same as none.
    package init(_ failure: HTTPFailure, isRepeatable: Bool) {
        let outcomeIsUnknown = failure.mayHaveBeenSent && !isRepeatable
        switch failure.reason {
        case .untrusted(let fault):
            self = .untrusted("The provider is not trusted: \(failure.message). \(fault.advice)")
        case .tooLarge, .notHTTP, .notAllowed:
            self = .invalidResponse(
                status: nil, "The provider cannot be used: \(failure.message). Check the authority's address.")
        case .refusedByProxy:
            self = .refusedByProxy(
                "The provider could not be reached: \(failure.message). Set the proxy's address, user and password in the "
                    + "broker's environment (https_proxy), or ask the proxy's operator.")
        case .proxy:
            self = .offline(
                "The provider could not be reached: \(failure.message). Check the proxy and try again, or set another in "
                    + "the broker's environment (https_proxy).")
        case .nameNotResolved, .notConnected, .handshake, .timedOut, .connectionLost, .cancelled, .closed, .internal:
            if outcomeIsUnknown {
                self = .outcomeUnknown(
                    "The provider's answer was lost: \(failure.message). It may have carried out the request.")
            } else {
                self = .offline(
                    "The provider could not be reached: \(failure.message). Check the network and try again.")
            }
        }
    }

    /// A response that means "not now" (5xx, 429, 408); `nil` for every other status.
    static func unavailable(_ response: HTTPResponse, server: String, now: NumericDate) -> ProviderError? {
        guard response.status >= 500 || response.status == 429 || response.status == 408 else { return nil }
        return .unavailable(
            status: response.status, retryAfter: RetryAfter.seconds(response.header("retry-after"), now: now),
            "The provider \(server) answered with status \(response.status). Try again later.\(response.quote)")
    }

    /// A response in the wrong form.
    ///
    /// - Parameter unreadable: where a body that is declared as JSON is invalid.
    static func unexpected(
        _ response: HTTPResponse, server: String, expected: String, unreadable: JSONReader.Malformed? = nil
    ) -> ProviderError {
        let form: String
        switch (response.mediaType, response.body.isEmpty) {
        case (_, true): form = "nothing"
        case (let type?, _): form = SafeText(type, atMost: 60).text
        case (nil, _): form = "something else"
        }
        if let unreadable, !response.body.isEmpty, response.mediaType?.hasSuffix("json") == true {
            return .invalidResponse(
                status: response.status,
                "The provider \(server) answered with status \(response.status) and JSON that cannot be read: "
                    + "\(unreadable.problem.rawValue), at byte \(unreadable.offset). Ask the provider's operator."
                    + response.quote)
        }
        let redirect = (300...399).contains(response.status) ? " Redirects are not followed." : ""
        return .invalidResponse(
            status: response.status,
            "The provider \(server) answered with status \(response.status) and \(form) instead of \(expected)."
                + "\(redirect) Check the authority's address.\(response.quote)")
    }
}

extension HTTPResponse {
    /// An error response's text for display. Words that could be a secret are left out: some servers repeat the request.
    fileprivate var quote: String {
        guard status >= 400 else { return "" }
        let said: String?
        if mediaType == "text/plain" {
            said = String(decoding: body.prefix(1_000), as: UTF8.self)
        } else {
            let value = (try? JSONReader.read(body))?.value
            let object = value?.objectValue ?? value?.arrayValue?.first?.objectValue
            said =
                ["error_description", "message", "detail", "title"].lazy.compactMap { object?[$0]?.stringValue }.first
        }
        let words = SafeText(said ?? "", atMost: 200).text.split(separator: " ")
        let text = words.map { Self.isPlain($0) ? $0 : "…" }.joined(separator: " ")
        return text.isEmpty ? "" : " It says: \(text)"
    }

    /// Whether a word is natural language, by its length and letters, and no part of a form.
    private static func isPlain(_ word: Substring) -> Bool {
        let bytes = word.utf8
        guard bytes.count <= 32, !bytes.contains(UInt8(ascii: "=")) else { return false }
        return bytes.count < 16 || word.allSatisfy(\.isLetter)
    }
}
