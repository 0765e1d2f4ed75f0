import BrokerValues

package enum CancelInteraction: PersonMethod {
    package static let name = "interaction.cancel"
    package static let summary = "Ends a waiting sign-in."
    package static let description = """
        All requests that wait for it are answered with userCanceled. A caller in a sandbox ends only its own interactions; \
        to it, any other does not exist.
        """
    package static let worksLocked = true
    package static let right: SandboxRight? = .interactive
    package static let errors: [ErrorKind] = []
    package static let resultName = "cancellation"

    package struct Params: ParamsObject {
        package var interactionId = ""
        package init() {}
        package init(interactionId: String) { self.interactionId = interactionId }
        package static let members: [Member<Params>] = [
            .required(
                "interactionId", \.interactionId, "As in interaction.open or interaction.joined.", .text(atMost: 256))
        ]
    }

    package struct Result: MessageObject {
        package var cancelled = false
        package init() {}
        package init(cancelled: Bool) { self.cancelled = cancelled }
        package static let members: [Member<Result>] = [
            .required("cancelled", \.cancelled, "False when no such sign-in waits (any more).")
        ]
    }
}
