import BrokerValues

package enum RemoveApp: AdministrationMethod {
    package static let name = "apps.remove"
    package static let summary = "Forgets a registered app."
    package static let description = "Tokens are kept; they serve again when the app is registered again."
    package static let errors: [ErrorKind] = [.appNotFound, .accessDenied]
    package static let resultName = "app"

    package struct Params: ParamsObject {
        package var name = ""
        package init() {}
        package init(name: String) { self.name = name }
        package static let members: [Member<Params>] = [
            .required("name", \.name, "The app's name.", .text(atMost: 128))
        ]
    }

    package struct Result: MessageObject {
        package var app = App()
        package init() {}
        package init(app: App) { self.app = app }
        package static let members: [Member<Result>] = [.required("app", \.app, "The removed app.")]
    }
}
