import BrokerValues

package enum CompleteInteraction: PersonMethod {
    package static let name = "interaction.complete"
    package static let summary = "Hands in a redirect that did not come to the broker's own listener."
    package static let description = """
        For URL handlers and for redirects that a person pasted. The state in the URL identifies the waiting sign-in that it \
        belongs to; a URL that belongs to none is refused without effect. A caller in a sandbox may complete only \
        sign-ins that it began itself.
        """
    package static let right: SandboxRight? = .interactive
    package static let errors: [ErrorKind] = [.invalidParameter]
    package static let resultName = "acceptance"

    package struct Params: ParamsObject {
        package var url = ""
        package init() {}
        package init(url: String) { self.url = url }
        package static let members: [Member<Params>] = [
            .required("url", \.url, "The whole redirect URL, with its query.", .text(atMost: 65_536))
        ]
    }

    package struct Result: MessageObject {
        package var accepted = true
        package init() {}
        package static let members: [Member<Result>] = [
            .required("accepted", \.accepted, "Always true; the waiting request gets the token or the error.")
        ]
    }
}
