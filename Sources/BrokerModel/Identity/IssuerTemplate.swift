import BrokerValues

/// Issuers that stand for those of all tenants, as the document of Entra's `common` names them.
enum IssuerTemplate {
    static let placeholder = "{tenantid}"

    static func isTemplate(_ issuer: String) -> Bool { issuer.holds(placeholder) }

    static func issuer(of tenant: String, by template: ExactText) -> ExactText {
        ExactText(template.text.replacing(text: placeholder, with: tenant))
    }
}
