/// Which clouds belong together: where people who sign in at one of them may turn out to be at home (`instance_aware`).
/// Microsoft's clouds do; the administrator may add others.
package struct CloudTable: Sendable, Equatable {
    /// The other clouds by environment, put together beforehand: every request of an instance-aware app asks for them.
    private let others: [String: Set<String>]

    /// - Parameter added: for an environment, those that its redirects may name besides Microsoft's.
    package init(_ added: [String: Set<String>] = [:]) {
        var others = added
        for cloud in EntraCloud.environments { others[cloud, default: []].formUnion(EntraCloud.environments) }
        for environment in others.keys { others[environment]?.remove(environment) }
        self.others = others
    }

    /// The other clouds' environments; none for a host that is no cloud.
    package func clouds(besides environment: String) -> Set<String> { others[environment] ?? [] }
}

/// Where the code of a redirect may be redeemed: at the cloud that was asked, or, when other clouds were allowed for, at the
/// one of them that the redirect names (`cloud_instance_host_name`).
package struct CloudExpectation: Sendable {
    /// Where the sign-in was begun.
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
        /// A cloud that was not allowed for, or no cloud at all.
        case stranger

        package var isOther: Bool { if case .other = self { true } else { false } }
    }

    /// What came through a browser decides nothing by itself: it is looked up among the clouds that were allowed for, letter
    /// for letter, and never taken apart.
    ///
    /// - Parameter host: as the redirect has it; nil or empty when it names none.
    package func cloud(named host: String?) -> Answer {
        guard let host, !host.isEmpty else { return .own }
        let environment = EntraCloud.canonical(host)
        if environment == authority.environment { return .own }
        return others.contains(environment) ? .other(authority.cloud(environment)) : .stranger
    }
}
