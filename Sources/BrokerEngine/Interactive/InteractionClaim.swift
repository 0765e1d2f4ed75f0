import BrokerModel
import BrokerValues

/// The owner of a waiting interaction's place. Each interaction takes a port, a page and a person's attention, so there
/// are limits: for each app, of which sandboxes together have half; for each program or sandbox, whatever apps it
/// names; for all sandboxes without a confirmed name together; and for each person. With many people, each gets as many
/// places as are left free for others, and at least one.
struct InteractionClaim: Sendable, Hashable {
    let partition: Partition
    /// The user with whose interactions it is counted.
    let payer: Partition
    /// ``AppRegistration/identity``.
    let app: String
    let group: GroupID
    let claimant: QuotaOwner
    /// Whether its caller is outside of every sandbox.
    let isOutside: Bool

    /// - Parameter others: the interactions that already wait.
    /// - Throws: `throttled` if there is no place.
    func check(
        among others: [InteractionClaim], _ settings: EngineSettings
    ) throws(BrokerError) {
        let here = others.filter { $0.payer == payer }
        let (most, share) = (settings.openInteractions, settings.openInteractionsEach)
        let ofApp = here.filter { $0.app == app }
        if ofApp.count >= share {
            throw Self.full("This app has \(share) sign-ins waiting already; finish or cancel one first.")
        }
        // The rest is for the person's own programs.
        let half = max(share / 2, 1)
        if !isOutside, ofApp.count(where: { !$0.isOutside }) >= half {
            throw Self.full(
                "Sandboxes have \(half) sign-ins of this app waiting already; finish or cancel one first.")
        }
        if here.count(where: { $0.claimant == claimant }) >= share {
            throw Self.full(
                "This program or sandbox has \(share) sign-ins waiting already; finish or cancel one first.")
        }
        if claimant.isUnnamed, here.count(where: { $0.claimant.isUnnamed }) >= most / 2 {
            throw Self.full(
                "Sandboxes without a confirmed name have \(most / 2) sign-ins waiting already; finish or cancel one first."
            )
        }
        if here.count >= most {
            throw Self.full("\(most) sign-ins wait for you already; finish or cancel one first.")
        }
        if !here.isEmpty, here.count + others.count >= Self.people * most {
            throw Self.full("Many sign-ins of other users wait, and some of yours; finish or cancel one first.")
        }
    }

    /// The number of people for whom there is room if each has the maximum of one person.
    private static let people = 3

    private static func full(_ message: String) -> BrokerError {
        BrokerError(.throttled, message, reason: .tooManyInteractions)
    }
}

/// The right to end an interaction or to deliver its redirect. Knowing an id or having seen a redirect gives no right to do so.
package enum InteractionOwner: Sendable {
    /// The interactions that this program or sandbox began.
    case beginner(QuotaOwner, Partition)
    /// All of a person's: for programs outside of sandboxes, which could end the process that waits as well.
    case person(Partition)

    func owns(_ claim: InteractionClaim) -> Bool {
        switch self {
        case .beginner(let claimant, let partition): claim.partition == partition && claim.claimant == claimant
        case .person(let partition): claim.partition == partition
        }
    }
}
