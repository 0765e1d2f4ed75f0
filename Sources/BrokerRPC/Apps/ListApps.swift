import BrokerValues

package enum ListApps: AdministrationMethod {
    package static let name = "apps.list"
    package static let summary = "The registered apps, by name."
    package static let description = "Client secrets are not shown."
    package static let isIdempotent = true
    package static let errors: [ErrorKind] = [.accessDenied]
    package static let resultName = "apps"
    package typealias Params = Empty

    package struct Result: MessageObject {
        package var apps: [App] = []
        package init() {}
        package init(apps: [App]) { self.apps = apps }
        package static let members: [Member<Result>] = [.required("apps", \.apps, "In the order of their names.")]
    }
}
