import BrokerValues

/// Every method and notification of the protocol that this broker has.
package enum MethodRegistry {
    package static let methods: [any BrokerMethod.Type] = [
        AcquireTokenSilent.self,
        AcquireTokenInteractive.self,
        AcquireTokenByDeviceCode.self,
        CompleteInteraction.self,
        CancelInteraction.self,
        ProveToken.self,
        ListAccounts.self,
        GetAccount.self,
        GetCurrentAccount.self,
        RemoveAccount.self,
        SignOutAccount.self,
        RegisterApp.self,
        RegisterAppAtProvider.self,
        ListApps.self,
        RemoveApp.self,
        ImportCache.self,
        GetBrokerStatus.self,
        Subscribe.self,
        DiscoverMethods.self,
    ]

    package static let notifications: [any BrokerNotification.Type] = [
        InteractionOpen.self,
        InteractionJoined.self,
        AccountEvent.self,
        TokenEvent.self,
        InteractionEvent.self,
        InteractionDeviceCode.self,
    ]
}

extension BrokerMethod {
    /// - Throws: -32602 naming the field, with the request's correlation id when that one is in order.
    package static func params(of call: Call) throws(RPCError) -> Params {
        var node = call.params ?? .object([])
        switch node {
        case .object: break
        // Some libraries write no params as null, or as none by position.
        case .null: node = .object([])
        case .array(let elements) where elements.isEmpty: node = .object([])
        default: throw .invalidParams(WireError("must be an object, not \(node.kindName)"))
        }
        do throws(WireError) {
            return try Params(reading: node)
        } catch {
            throw .invalidParams(error, correlationID: CorrelationID.given(in: node))
        }
    }
}
