import BrokerValues

package enum CloseSandbox: AdministrationMethod {
    package static let name = "sandboxes.close"
    package static let summary = "Ends a sandbox's own socket."
    package static let description = """
        Its connections are cut off before this is answered, and the socket and its folder are gone. Grants to the \
        sandbox stay, for the next socket of that name; see grants.revoke.
        """
    package static let worksLocked = true
    package static let errors: [ErrorKind] = [.invalidParameter, .accessDenied]
    package static let resultName = "closing"

    package struct Params: ParamsObject {
        package var handle = ""
        package init() {}
        package init(handle: String) { self.handle = handle }
        package static let members: [Member<Params>] = [
            .required("handle", \.handle, "From sandboxes.open or sandboxes.list.", .text(atMost: 64))
        ]
    }

    package struct Result: MessageObject {
        package var closed = true
        package init() {}
        package static let members: [Member<Result>] = [.required("closed", \.closed, "True.")]
    }
}
