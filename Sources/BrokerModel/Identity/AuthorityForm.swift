/// What the host and path of an authority's URL mean for its kind, in one spelling. Pure.
struct AuthorityForm {
    let environment: String
    let path: String
    let kind: AuthorityKind

    /// - Parameters:
    ///   - host: lower-cased, with its port where that is not the scheme's own.
    ///   - path: without slashes around it.
    ///   - kind: what the administrator says the host is; nil when the URL itself tells.
    init(host: String, path: String, kind: ProviderKind?) throws(Authority.Invalid) {
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        switch kind ?? Self.kind(ofHost: host, segments) {
        case .entra:
            let tenant = try Self.tenant(segments)
            environment = EntraCloud.canonical(host)
            (self.path, self.kind) = (tenant.name, .entra(tenant))
        case .ciam:
            let tenant: Tenant
            if path.isEmpty, host.hasSuffix(Self.ciam) {
                tenant = .domain(host.dropLast(Self.ciam.count) + ".onmicrosoft.com")
            } else {
                tenant = try Self.tenant(segments)
            }
            (environment, self.path, self.kind) = (host, tenant.name, .ciam(tenant))
        case .b2c:
            let lowered = Self.withoutVersion(segments).map { $0.lowercased() }
            let names = lowered.first == "tfp" ? Array(lowered.dropFirst()) : lowered
            guard names.count == 2, names.allSatisfy(Self.isName) else { throw .policyMissing }
            environment = EntraCloud.canonical(host)
            self.path = lowered.joined(separator: "/")
            self.kind = .b2c(tenant: names[0], policy: names[1])
        case .adfs:
            guard path.lowercased() == "adfs" else { throw .notADFS }
            (environment, self.path, self.kind) = (host, "adfs", .adfs)
        case .generic:
            (environment, self.path, self.kind) = (host, path, .generic)
        }
    }

    private static let b2c = ".b2clogin.com"
    private static let ciam = ".ciamlogin.com"

    private static func kind(ofHost host: String, _ segments: [String]) -> ProviderKind {
        let first = segments[0].lowercased()
        if host.hasSuffix(b2c) { return .b2c }
        if host.hasSuffix(ciam) { return .ciam }
        if EntraCloud.environment(of: host) != nil { return first == "tfp" ? .b2c : .entra }
        // B2C with a domain of one's own has the form `/tfp/TENANT/POLICY`.
        if first == "tfp", withoutVersion(segments).count == 3 { return .b2c }
        return segments.count == 1 && first == "adfs" ? .adfs : .generic
    }

    private static func tenant(_ segments: [String]) throws(Authority.Invalid) -> Tenant {
        let segments = withoutVersion(segments)
        guard let name = segments.first, !name.isEmpty else { throw .tenantMissing }
        guard segments.count == 1, isName(name) else { throw .notATenant }
        return Tenant(name)
    }

    private static func withoutVersion(_ segments: [String]) -> [String] {
        segments.last?.lowercased() == "v2.0" ? Array(segments.dropLast()) : segments
    }

    /// What tenants and policies are named: it goes into addresses as it stands.
    static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.count <= 253 && text != "." && text != ".."
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-._".contains($0)) }
    }
}
