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
        ForgetAccount.self,
        RegisterApp.self,
        RegisterAppAtProvider.self,
        ListApps.self,
        RemoveApp.self,
        ImportCache.self,
        GetCacheStatistics.self,
        ClearCache.self,
        ExportCache.self,
        ExportCachePart.self,
        ImportCachePart.self,
        ImportBackup.self,
        ListGrants.self,
        ApproveGrant.self,
        DenyGrant.self,
        RevokeGrant.self,
        GetBrokerStatus.self,
        LockBroker.self,
        UnlockBroker.self,
        GetKeyStatus.self,
        RotateKey.self,
        SetKeySource.self,
        ListCallers.self,
        Subscribe.self,
        DiscoverMethods.self,
    ]

    package static let notifications: [any BrokerNotification.Type] = [
        InteractionOpen.self,
        InteractionJoined.self,
        InteractionGrant.self,
        AccountEvent.self,
        TokenEvent.self,
        InteractionEvent.self,
        GrantNotification.self,
        InteractionDeviceCode.self,
    ]
}
