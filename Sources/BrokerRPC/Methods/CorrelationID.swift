import FoundationEssentials

/// Ties together an app's call, the broker's log and the provider's log.
package enum CorrelationID {
    package static func make() -> String { UUID().uuidString.lowercased() }

    /// The caller's own, if there is a well-formed one: also a request that is refused should be found again.
    static func given(in params: JSONNode) -> String? {
        guard case .string(let text)? = params["correlationId"],
            (try? Rule<String>.correlationID.check(text)) != nil
        else { return nil }
        return text
    }
}
