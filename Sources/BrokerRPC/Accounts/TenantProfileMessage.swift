import BrokerValues

extension TenantProfile: MessageObject {
    package init() { self.init(tenantId: "", authority: "", isHomeTenant: false) }

    package static var componentName: String? { "TenantProfile" }

    package static let members: [Member<TenantProfile>] = [
        .required("tenantId", \.tenantId, "The tenant."),
        .required("authority", \.authority, "The issuer URL of the tenant."),
        .optional("username", \.username, "The person's username in the tenant."),
        .optional("name", \.name, "The person's name in the tenant."),
        .required("isHomeTenant", \.isHomeTenant, "False where the person is a guest."),
        .optional("claims", \.claims, "The claims of the tenant's ID token."),
    ]
}
