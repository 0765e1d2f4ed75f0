import BrokerModel
import BrokerValues

extension EventHub {
    func tellOfInteraction(
        _ change: InteractionChange, _ id: String, from asker: String? = nil, error: ErrorKind? = nil,
        for app: AppRegistration, in partition: Partition
    ) {
        tell(EngineEvent(partition: partition, app: app, .interaction(change, id: id, from: asker, error: error)))
    }

    /// How it ended.
    func tellOfInteraction(
        _ outcome: Result<AcquiredToken, BrokerError>, _ id: String, for app: AppRegistration, in partition: Partition
    ) {
        switch outcome {
        case .success: tellOfInteraction(.succeeded, id, for: app, in: partition)
        case .failure(let error): tellOfInteraction(.failed, id, error: error.kind, for: app, in: partition)
        }
    }
}
