import BrokerLink
import BrokerRPC
import BrokerValues

/// The provider's metadata that a registration with a check found (decision 24).
struct SeenProvider {
    let node: JSONNode
    private let result: RegisterApp.Result

    /// - Parameter goal: the change that `--no-check` makes without a check.
    init(asking params: RegisterApp.Params, toDo goal: String, in context: CommandContext) throws(BrokerClientError) {
        do throws(BrokerClientError) {
            node = try context.answer(to: RegisterApp.self, params)
        } catch {
            // `offline` includes a server that answers with the wrong certificate.
            guard params.checkAuthority, error.code == .invalidResponse || error.code == .offline else { throw error }
            var error = error
            error.message += " Nothing was changed; to \(goal) anyway, use --no-check."
            throw error
        }
        result = try RegisterApp.Result.decoded(node)
    }

    /// If the provider did not answer, the app is kept.
    func warn(_ done: String, _ context: CommandContext) {
        guard let why = result.unreached else { return }
        context.output.aside("brokerctl: warning: The app was \(done), but its provider could not be checked: \(why)")
    }

    var facts: Facts {
        var facts = AppText.facts(result.app)
        facts.add("Provider", result.provider.map(AppText.outline))
        return facts
    }
}
