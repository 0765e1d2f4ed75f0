/// A folder below Sources that is one target, its allowed imports, and its level.
struct Layer: Sendable {
    var name: String
    var folder: String
    /// A target imports only lower levels; targets of one level are siblings.
    var height: Int
    /// Targets of this package.
    var targets: Set<String>
    /// Modules of other packages.
    var libraries: Set<String> = []
    /// Part of brokerd, brokerctl or the client library: no Foundation, whose Unicode tables alone are tens of megabytes.
    var shipped = true

    /// Modules of the toolchain or the system.
    static let system: Set<String> = ["Glibc", "Synchronization", "Dispatch"]

    var allowed: Set<String> {
        targets.union(libraries).union(Self.system).union(shipped ? [] : ["Foundation", "FoundationEssentials"])
    }
}

/// The layers of docs/architecture.md. Package.swift declares the same dependencies to the compiler; this limits which
/// of them may be declared.
extension Layer {
    static let all: [Layer] = entryPoints + composition + answer + bytes + decisions + ground + model

    private static let entryPoints: [Layer] = [
        Layer(name: "brokerd", folder: "brokerd", height: 9, targets: ["BrokerDaemon", "CArguments", "CWipingHeap"]),
        Layer(name: "brokerctl", folder: "brokerctl", height: 9, targets: ["BrokerCommands", "CArguments"]),
        Layer(
            name: "profile-app", folder: "Examples/ProfileApp", height: 9, targets: ["BrokerClient", "ExampleSupport"],
            shipped: false),
        Layer(
            name: "mail-app", folder: "Examples/MailApp", height: 9, targets: ["BrokerClient", "ExampleSupport"],
            shipped: false),
        Layer(
            name: "broker-demo", folder: "Examples/Demo", height: 9, targets: ["BrokerClient", "ExampleSupport"],
            libraries: ["FoundationNetworking"], shipped: false),
        Layer(
            name: "broker-dev-idp", folder: "DevIdP/Main", height: 9, targets: ["DevIdentityProvider"],
            libraries: ["ArgumentParser"], shipped: false),
    ]

    private static let composition: [Layer] = [
        Layer(
            name: "BrokerDaemon", folder: "BrokerDaemon", height: 7,
            targets: [
                "BrokerServer", "BrokerSocket", "BrokerRPC", "BrokerEngine", "BrokerAccess", "BrokerVaultSQLite",
                "BrokerVault", "BrokerOAuth", "BrokerHost", "BrokerConfig", "BrokerModel", "BrokerCommandLine",
                "BrokerValues", "BrokerSystem",
            ],
            libraries: ["ServiceLifecycle", "UnixSignals", "Logging", "NIOPosix"]),
        Layer(
            name: "BrokerCommands", folder: "BrokerCommands", height: 7,
            targets: ["BrokerLink", "BrokerRPC", "BrokerCommandLine", "BrokerValues", "BrokerSystem", "CQREncode"]),
        Layer(
            name: "BrokerClient", folder: "BrokerClient", height: 7,
            targets: ["BrokerLink", "BrokerRPC", "BrokerValues"], libraries: ["FoundationEssentials"]),
        Layer(
            name: "ExampleSupport", folder: "Examples/Support", height: 8, targets: ["BrokerClient"],
            libraries: ["FoundationNetworking"], shipped: false),
        Layer(
            name: "DevIdentityProvider", folder: "DevIdP/Provider", height: 7, targets: ["CProviderKeys"],
            libraries: ["Hummingbird", "NIOCore", "Logging"], shipped: false),
    ]

    private static let answer: [Layer] = [
        Layer(
            name: "BrokerServer", folder: "BrokerServer", height: 6,
            targets: [
                "BrokerSocket", "BrokerRPC", "BrokerOIDCAgent", "BrokerEngine", "BrokerAccess", "BrokerModel",
                "BrokerValues",
            ],
            libraries: ["Logging"]),
        Layer(
            name: "BrokerLink", folder: "BrokerLink", height: 6,
            targets: ["BrokerRPC", "BrokerValues", "BrokerSystem"]),
    ]

    private static let bytes: [Layer] = [
        Layer(
            name: "BrokerSocket", folder: "BrokerSocket", height: 5,
            targets: ["BrokerModel", "BrokerValues", "BrokerSystem", "CBrokerLinux"],
            libraries: ["NIOCore", "NIOPosix", "NIOHTTP1", "Logging"]),
        Layer(name: "BrokerRPC", folder: "BrokerRPC", height: 5, targets: ["BrokerValues"]),
        Layer(
            name: "BrokerOIDCAgent", folder: "BrokerOIDCAgent", height: 5,
            targets: ["BrokerModel", "BrokerValues", "CSodium"]),
    ]

    private static let decisions: [Layer] = [
        Layer(
            name: "BrokerEngine", folder: "BrokerEngine", height: 4,
            targets: ["BrokerTokenCache", "BrokerModel", "BrokerValues"], libraries: ["Logging"]),
        Layer(
            name: "BrokerAccess", folder: "BrokerAccess", height: 4, targets: ["BrokerModel", "BrokerValues"],
            libraries: ["Logging"]),
        Layer(
            name: "BrokerVaultSQLite", folder: "BrokerVaultSQLite", height: 4,
            targets: ["BrokerVault", "BrokerModel", "BrokerSystem", "CSQLite"], libraries: ["Logging"]),
    ]

    private static let ground: [Layer] = [
        Layer(
            name: "BrokerVault", folder: "BrokerVault", height: 3,
            targets: [
                "BrokerModel", "BrokerValues", "BrokerSystem", "BrokerBus", "CBrokerLinux", "CSodium",
            ],
            libraries: ["Logging"]),
        Layer(
            name: "BrokerTokenCache", folder: "BrokerTokenCache", height: 3, targets: ["BrokerModel", "BrokerValues"],
            libraries: ["Logging"]),
        Layer(
            name: "BrokerOAuth", folder: "BrokerOAuth", height: 3,
            targets: ["BrokerModel", "BrokerValues", "BrokerSystem", "CCurl", "CSignatures"]),
        Layer(
            name: "BrokerHost", folder: "BrokerHost", height: 3,
            targets: ["BrokerModel", "BrokerValues", "BrokerSystem", "BrokerBus", "CSystemd", "CBrokerLinux"],
            libraries: ["Logging"]),
        Layer(
            name: "BrokerConfig", folder: "BrokerConfig", height: 3,
            targets: ["BrokerModel", "BrokerValues", "BrokerSystem", "CToml"]),
    ]

    private static let model: [Layer] = [
        Layer(
            name: "BrokerModel", folder: "BrokerModel", height: 2, targets: ["BrokerValues", "BrokerSystem", "CSodium"]),
        Layer(name: "BrokerCommandLine", folder: "BrokerCommandLine", height: 2, targets: ["BrokerValues"]),
        Layer(name: "BrokerBus", folder: "BrokerBus", height: 2, targets: ["BrokerSystem", "CSystemd"]),
        Layer(name: "BrokerValues", folder: "BrokerValues", height: 1, targets: []),
        Layer(name: "BrokerSystem", folder: "BrokerSystem", height: 1, targets: []),
    ]
}
