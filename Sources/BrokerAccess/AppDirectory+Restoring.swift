import BrokerModel
import BrokerValues

extension AppDirectory {
    package func restore(
        _ record: AppRecord, clientSecret: Secret?, replacing: Bool, in partition: Partition
    ) async throws(BrokerError) -> RestoredApp {
        if let file = file(of: record.name) { return .kept("\(file) registers it.") }
        let authorities = authorities
        guard let app = Registration(record, clientSecret: clientSecret, by: authorities).app else {
            return .kept(
                "\(record.authority) is no valid authority for this broker's providers; fix this, and import again.")
        }
        return try await changes.holding(partition) { () async throws(BrokerError) in
            do throws(BrokerError) {
                try AppRules.check(app)
                try checkSpelling(of: app.description, in: partition)
                try checkRoom(for: app.name, in: partition)
            } catch {
                return .kept(error.message)
            }
            let before = try registrations(of: partition)[record.name]
            if let before {
                guard before.app != app else { return .same }
                guard replacing else {
                    return .kept("the backup's differs; import with --replace to have that one.")
                }
            }
            try await write(app, in: partition)
            return before == nil ? .added : .replaced
        }
    }
}
