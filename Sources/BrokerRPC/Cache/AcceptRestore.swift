import BrokerValues

package enum AcceptRestore: AdministrationMethod {
    package static let name = "cache.acceptRestore"
    package static let summary =
        "Says that the vault is right as it is, after a restore or when records were set aside."
    package static let description = """
        For a backup that was restored on purpose. Until then broker.status says rolledBack, and sandboxes use no app. Changes \
        since the backup (an app's allowed programs, sign-outs) are lost: check apps.list \
        first. Records that were set aside are deleted, and quarantined and missing begin at 0 again.
        """
    package static let errors: [ErrorKind] = [.accessDenied, .locked]
    package static let resultName = "acceptance"
    /// Anything revoked since the backup becomes valid again.
    package static func presence(for params: Params) -> PresenceNeed { .always() }

    package struct Params: ParamsObject {
        package var everybody = false
        package init() {}
        package static let members: [Member<Params>] = [
            .defaulted(
                "everybody", \.everybody,
                "True accepts all users' records; for root, if the broker serves all users.", to: false)
        ]
    }

    package struct Result: MessageObject {
        package var accepted = false
        package init() {}
        package init(accepted: Bool) { self.accepted = accepted }
        package static let members: [Member<Result>] = [
            .required("accepted", \.accepted, "False when there was nothing to accept.")
        ]
    }
}
