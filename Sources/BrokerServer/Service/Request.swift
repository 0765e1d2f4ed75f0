import BrokerAccess
import BrokerModel
import BrokerRPC
import BrokerValues

/// A request as its handler gets it: the caller may use the method, and act as the app. A class, so that passing it on costs one
/// reference and not dozens.
final class Request<M: BrokerMethod>: Sendable where M.Params.NamedApp: AppNaming {
    let params: M.Params
    /// An `AppRegistration`, an optional one, or ``NoApp``, depending on the method's params.
    let app: M.Params.NamedApp.App
    /// The grant that admitted the caller, if a person had to agree: the answer must not exceed it.
    let grant: GrantInUse?
    let correlationID: String
    let context: ConnectionContext

    init(
        params: M.Params, _ admitted: Admission<M.Params.NamedApp.App>, correlationID: String,
        _ context: ConnectionContext
    ) {
        self.params = params
        (app, grant) = (admitted.app, admitted.grant)
        self.correlationID = correlationID
        self.context = context
    }

    var partition: Partition { context.caller.partition }
}
