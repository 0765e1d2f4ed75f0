import BrokerAccess
import BrokerModel
import BrokerRPC
import BrokerValues

/// `broker.status` and `rpc.discover`.
struct BrokerHandlers: Sendable {
    private let services: ServerServices
    private let connections: ConnectionCount

    init(_ services: ServerServices, connections: ConnectionCount) {
        self.services = services
        self.connections = connections
    }

    var routes: [Route] {
        [
            .waiting(GetBrokerStatus.self) { _, _ throws(BrokerError) in try status() },
            .atOnce(DiscoverMethods.self) { _, _ throws(BrokerError) in OpenRPCDocument.json },
        ]
    }

    private func status() throws(BrokerError) -> GetBrokerStatus.Result {
        var status = GetBrokerStatus.Result()
        status.version = services.process.version
        status.protocol = OpenRPCDocument.protocolVersion
        status.uptime = (services.clock.uptime - services.process.startedAt).components.seconds
        status.mode = services.process.mode
        status.device.mode = services.broker.isSharedDevice ? .shared : .private
        status.connections = Int64(connections.value)
        status.refreshesInFlight = Int64(services.broker.refreshesInFlight)
        do throws(VaultError) {
            let vault = try services.vault.statistics()
            status.vault.path = vault.path
            status.vault.keySource = vault.keySource
            status.vault.records = Int64(vault.records)
        } catch .locked {
            status.locked = true
        } catch {
            throw BrokerError(error)
        }
        return status
    }
}
