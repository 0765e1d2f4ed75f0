import BrokerModel
import BrokerTokenCache
import BrokerValues
import Synchronization

/// The interactions that wait, so that a redirect, a cancel or an equal request can find its own.
final class InteractionRegistry: Sendable {
    private struct State {
        var interactions: [String: any WaitingInteraction] = [:]
        var flights: [SignInKey: SignInFlight] = [:]
        /// The error for new interactions while none may wait.
        var refusal: BrokerError?

        mutating func add(_ interaction: some WaitingInteraction, _ settings: EngineSettings) throws(BrokerError) {
            if let refusal { throw refusal }
            try interaction.claim.check(among: interactions.values.map(\.claim), settings)
            interactions[interaction.id] = interaction
        }
    }

    private let state = Mutex(State())

    private let settings: SettingsBox
    private let random: any RandomSource
    private let events: EventHub
    /// The user with whom a user's interactions are counted.
    private let payer: @Sendable (Partition) -> Partition

    init(
        settings: SettingsBox, random: any RandomSource, events: EventHub,
        payer: @escaping @Sendable (Partition) -> Partition
    ) {
        (self.settings, self.random, self.events, self.payer) = (settings, random, events, payer)
    }

    /// Makes an interaction, which is not added yet.
    ///
    /// - Parameters:
    ///   - claimant: the caller.
    ///   - isOutside: whether the caller is outside of every sandbox.
    func interaction<Answer: Sendable>(
        for app: AppRegistration, of claimant: QuotaOwner, isOutside: Bool, in partition: Partition
    ) -> Interaction<Answer> {
        Interaction(
            id: Base64URL.encode(random.bytes(16)),
            claim: InteractionClaim(
                partition: partition, payer: payer(partition), app: app.identity, group: app.effectiveGroup,
                claimant: claimant, isOutside: isOutside),
            app: app.name)
    }

    /// - Throws: `throttled` if too many wait already, and the current refusal.
    func add(_ interaction: some WaitingInteraction) throws(BrokerError) {
        let settings = settings.value
        try state.withLock { state throws(BrokerError) in try state.add(interaction, settings) }
    }

    var count: Int { state.withLock { $0.interactions.count } }

    func remove(_ interaction: some WaitingInteraction) {
        state.withLock { $0.interactions[interaction.id] = nil }
        interaction.over.fulfil(())
    }

    func interaction(_ id: String, of owner: InteractionOwner) -> (any WaitingInteraction)? {
        state.withLock { $0.interactions[id] }.flatMap { owner.owns($0.claim) ? $0 : nil }
    }

    /// Offers a redirect to all of the owner's waiting interactions; it matches at most one, because states are unique.
    func deliver(_ redirect: RedirectParameters, from owner: InteractionOwner) -> RedirectReception {
        for interaction in waiting where owner.owns(interaction.claim) {
            let reception = interaction.take(redirect)
            if case .notExpected = reception { continue }
            return reception
        }
        return .notExpected
    }

    /// Ends all interactions and refuses new ones with this error; `nil` allows new ones again.
    func refuse(with error: BrokerError?) {
        state.withLock { $0.refusal = error }
        if let error { for interaction in waiting { interaction.end(error) } }
    }

    /// Waits for the sign-ins whose answer has come, at shutdown: a code works once, and its tokens are kept even if all callers have
    /// gone. The HTTP client bounds the time.
    func finishAnswered() async {
        while let interaction = waiting.first(where: \.isAnswered) { await interaction.over.value }
    }

    /// Ends the sign-ins that only a person who is erased or signed out could finish, and marks all others, so that they
    /// keep nothing of that person. Runs in the write queue: a sign-in that is filed later finds the mark.
    ///
    /// - Parameters:
    ///   - person: `nil` for everybody.
    ///   - isReached: whether a sign-in is concerned.
    func erase(
        _ person: KnownAccounts.PersonKey?, in partition: Partition, with error: BrokerError,
        where isReached: (InteractionClaim) -> Bool = { _ in true }
    ) {
        for interaction in waiting where interaction.partition == partition && isReached(interaction.claim) {
            interaction.erasures.add(person, error)
            if person == nil { interaction.end(error) }
        }
        guard let person else { return }
        let flights = state.withLock { Array($0.flights.values) }
        for flight in flights where flight.key.isFor(person, in: partition) && isReached(flight.interaction.claim) {
            flight.interaction.end(error)
        }
    }

    private var waiting: [any WaitingInteraction] { state.withLock { Array($0.interactions.values) } }

    // MARK: Events

    func tell(
        _ change: InteractionChange, of id: String, from asker: String? = nil, error: ErrorKind? = nil,
        for app: AppRegistration, in partition: Partition
    ) {
        events.tell(
            EngineEvent(partition: partition, app: app, .interaction(change, id: id, from: asker, error: error)))
    }

    /// Tells subscribers how an interaction ended.
    func tell(
        _ outcome: Result<AcquiredToken, BrokerError>, of id: String, for app: AppRegistration, in partition: Partition
    ) {
        switch outcome {
        case .success: tell(.succeeded, of: id, for: app, in: partition)
        case .failure(let error): tell(.failed, of: id, error: error.kind, for: app, in: partition)
        }
    }

    // MARK: Sign-ins that can be joined

    /// Joins the flight with this key, or creates a new one, which the caller starts.
    ///
    /// - Throws: `throttled` if a new one would exceed the limit.
    func join(
        _ key: SignInKey, _ waiter: SignInFlight.Waiter, orStart newFlight: () -> SignInFlight
    ) throws(BrokerError) -> (flight: SignInFlight, joining: SignInFlight.Joining) {
        let settings = settings.value
        return try state.withLock { state throws(BrokerError) in
            if let flight = state.flights[key], let joining = flight.join(waiter) { return (flight, joining) }
            let flight = newFlight()
            try state.add(flight.interaction, settings)
            state.flights[key] = flight
            return (flight, .first)
        }
    }

    func remove(_ flight: SignInFlight) {
        remove(flight.interaction)
        // An ended flight may already have a successor.
        state.withLock { if $0.flights[flight.key] === flight { $0.flights[flight.key] = nil } }
    }
}
