import BrokerRPC
import BrokerValues

/// Params with every required member, for any method. A method that is missing here needs none.
package let requiredParams: [String: JSONObject] = [
    AcquireTokenSilent.name: ["app": "mail", "scopes": ["a"]],
    AcquireTokenInteractive.name: ["app": "mail", "scopes": ["a"]],
    AcquireTokenByDeviceCode.name: ["app": "mail", "scopes": ["a"]],
    CompleteInteraction.name: ["url": "http://127.0.0.1/?code=x"],
    CancelInteraction.name: ["interactionId": "i"],
    GetAccount.name: ["account": ["id": "x"]],
    GetCurrentAccount.name: ["app": "mail"],
    SignOutAccount.name: ["account": ["id": "x"]],
    ForgetAccount.name: ["account": ["id": "x"]],
    RemoveAccount.name: ["account": ["id": "x"], "app": "mail"],
    RegisterApp.name: ["name": "mail", "clientId": "c", "authority": "https://a.example"],
    RegisterAppAtProvider.name: ["name": "mail", "authority": "https://a.example"],
    ProveToken.name: ["app": "mail", "httpMethod": "GET", "url": "https://a.example/"],
    RemoveApp.name: ["name": "mail"],
    Subscribe.name: ["topics": ["account"]],
    SetKeySource.name: ["source": "key-file"],
    ExportCache.name: ["passphrase": "correct horse"],
    ExportCachePart.name: ["transfer": "x"],
    ImportCachePart.name: ["data": ""],
    ImportBackup.name: ["transfer": "x", "passphrase": "correct horse"],
    ImportCache.name: ["cache": [:]],
    ApproveGrant.name: ["request": "r"],
    DenyGrant.name: ["request": "r"],
    RevokeGrant.name: ["id": "g"],
    RemovePartition.name: ["uid": 1000],
    OpenSandbox.name: ["engine": "bubblewrap", "id": "box"],
    CloseSandbox.name: ["handle": "h"],
]
