/// The clouds that belong together: users who sign in at one of them may have their home at another (`instance_aware`).
/// Microsoft's clouds do; the administrator may add others.
package struct CloudTable: Sendable, Equatable {
    /// The other clouds by environment, computed in advance: every request of an instance-aware app needs them.
    private let others: [String: Set<String>]

    /// - Parameter added: for an environment, those that its redirects may name in addition to Microsoft's.
    package init(_ added: [String: Set<String>] = [:]) {
        var others = added
        for cloud in EntraCloud.environments { others[cloud, default: []].formUnion(EntraCloud.environments) }
        for environment in others.keys { others[environment]?.remove(environment) }
        self.others = others
    }

    /// The other clouds' environments; none for a host that is not a cloud.
    package func clouds(besides environment: String) -> Set<String> { others[environment] ?? [] }
}

/// Where the code of a redirect may be redeemed: at the cloud where the sign-in began, or, if other clouds are allowed, at one of
/// them that the redirect names (`cloud_instance_host_name`).
package struct CloudExpectation: Sendable {
    /// The authority where the sign-in began.
    package let authority: Authority
    /// Environments; empty unless the request said `instance_aware`.
    package let others: Set<String>

    package init(authority: Authority, others: Set<String>) {
        self.authority = authority
        self.others = others
    }

    package enum Answer: Sendable, Equatable {
        case own
        case other(Authority)
        /// A cloud outside the allowed set, or not a cloud.
        case stranger

        package var isOther: Bool { if case .other = self { true } else { false } }
    }

    /// A value from the browser decides nothing by itself: it is looked up among the allowed clouds, character by character, and
    /// never parsed.
    ///
    /// - Parameter host: from the redirect; nil or empty if it names none.
    package func cloud(named host: String?) -> Answer {
        guard let host, !host.isEmpty else { return .own }
        let environment = EntraCloud.canonical(host)
        if environment == authority.environment { return .own }
        return others.contains(environment) ? .other(authority.cloud(environment)) : .stranger
    }
}
