import BrokerLink
import BrokerRPC
import BrokerValues

/// What a registration found at the provider, where it was to look there first (decision 24).
struct SeenProvider {
    let node: JSONNode
    private let result: RegisterApp.Result

    /// - Parameter goal: what `--no-check` lets happen all the same.
    init(asking params: RegisterApp.Params, toDo goal: String, in context: CommandContext) throws(BrokerClientError) {
        do throws(BrokerClientError) {
            node = try context.answer(to: RegisterApp.self, params)
        } catch {
            // Offline: somebody answers there, with another's certificate.
            guard params.checkAuthority, error.code == .invalidResponse || error.code == .offline else { throw error }
            var error = error
            error.message += " Nothing was changed; to \(goal) all the same, say --no-check."
            throw error
        }
        result = try RegisterApp.Result.decoded(node)
    }

    /// Where nobody answered, the app is kept all the same.
    func warn(_ done: String, _ context: CommandContext) {
        guard let why = result.unreached else { return }
        context.output.aside("brokerctl: warning: The app was \(done), and its provider was not seen: \(why)")
    }

    var facts: Facts {
        var facts = AppText.facts(result.app)
        facts.add("Provider", result.provider.map(AppText.outline))
        return facts
    }
}
