// swift-tools-version: 6.2
import PackageDescription

// The layers of docs/architecture.md, top to bottom. A target imports only what it declares here, and
// Tests/ArchitectureTests holds the imports in the sources against the same table.

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
]

func layer(_ name: String, _ dependencies: [Target.Dependency], path: String? = nil, resources: [Resource]? = nil)
    -> Target
{
    .target(name: name, dependencies: dependencies, path: path, resources: resources, swiftSettings: strict)
}

func program(_ name: String, _ dependencies: [Target.Dependency], path: String? = nil) -> Target {
    .executableTarget(name: name, dependencies: dependencies, path: path, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource]? = nil, exclude: [String] = [])
    -> Target
{
    .testTarget(
        name: name, dependencies: dependencies + ["BrokerTestSupport"], exclude: exclude, resources: resources,
        swiftSettings: strict)
}

func system(_ name: String, pkgConfig: String, apt: String) -> Target {
    .systemLibrary(name: name, path: "Sources/C/\(name)", pkgConfig: pkgConfig, providers: [.apt([apt])])
}

extension Target.Dependency {
    /// An app that takes BrokerClient alone (`traits: []`) fetches none of them.
    private static func library(_ name: String, _ package: String) -> Target.Dependency {
        product(name: name, package: package, condition: .when(traits: ["Programs"]))
    }

    static let logging = library("Logging", "swift-log")
    static let arguments = library("ArgumentParser", "swift-argument-parser")
    static let nioCore = library("NIOCore", "swift-nio")
    static let nioPosix = library("NIOPosix", "swift-nio")
    static let nioHTTP1 = library("NIOHTTP1", "swift-nio")
    static let lifecycle = library("ServiceLifecycle", "swift-service-lifecycle")
    static let signals = library("UnixSignals", "swift-service-lifecycle")
    static let hummingbird = library("Hummingbird", "hummingbird")

    /// Indirect dependencies, which nothing here imports: SwiftPM takes no notice of the version of a package that no target names.
    static let broughtAlong = [
        library("Atomics", "swift-atomics"), library("DequeModule", "swift-collections"),
        library("AsyncAlgorithms", "swift-async-algorithms"),
    ]
}

let package = Package(
    name: "token-broker",
    products: [
        .executable(name: "brokerd", targets: ["brokerd"]),
        .executable(name: "brokerctl", targets: ["brokerctl"]),
        .library(name: "BrokerClient", targets: ["BrokerClient"]),
    ],
    traits: [
        .trait(name: "Programs", description: "brokerd, brokerctl and the tests, with the packages that they need."),
        .default(enabledTraits: ["Programs"]),
    ],
    dependencies: [
        // Packages that are linked into the installed programs have exact versions, indirect ones included.
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
        .package(url: "https://github.com/apple/swift-atomics", exact: "1.3.0"),
        .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
        .package(url: "https://github.com/apple/swift-async-algorithms", exact: "1.1.4"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
    ],
    targets: [
        // Entry points
        program("brokerd", ["BrokerDaemon", "CArguments", "CWipingHeap"] + Target.Dependency.broughtAlong),
        program("brokerctl", ["BrokerCommands", "CArguments"]),
        program("profile-app", ["BrokerClient", "ExampleSupport"], path: "Sources/Examples/ProfileApp"),
        program("mail-app", ["BrokerClient", "ExampleSupport"], path: "Sources/Examples/MailApp"),
        layer("ExampleSupport", ["BrokerClient"], path: "Sources/Examples/Support"),
        program("broker-demo", ["BrokerClient", "ExampleSupport"], path: "Sources/Examples/Demo"),
        program("broker-dev-idp", ["DevIdentityProvider", .arguments], path: "Sources/DevIdP/Main"),
        layer(
            "DevIdentityProvider", ["CProviderKeys", .hummingbird, .nioCore, .logging], path: "Sources/DevIdP/Provider"),

        // Composition
        layer(
            "BrokerDaemon",
            [
                "BrokerServer", "BrokerSocket", "BrokerRPC", "BrokerEngine", "BrokerAccess", "BrokerVaultSQLite",
                "BrokerVault", "BrokerOAuth", "BrokerHost", "BrokerConfig", "BrokerModel", "BrokerCommandLine",
                "BrokerValues", "BrokerSystem", .lifecycle, .signals, .logging, .nioPosix,
            ]),
        layer(
            "BrokerCommands",
            ["BrokerLink", "BrokerRPC", "BrokerCommandLine", "BrokerValues", "BrokerSystem", "CQREncode"]),
        layer("BrokerClient", ["BrokerLink", "BrokerRPC", "BrokerValues"]),

        // Answer
        layer(
            "BrokerServer",
            [
                "BrokerSocket", "BrokerRPC", "BrokerOIDCAgent", "BrokerEngine", "BrokerAccess", "BrokerModel",
                "BrokerValues", .logging,
            ]),
        layer("BrokerLink", ["BrokerRPC", "BrokerValues", "BrokerSystem"]),

        // Bytes and messages
        layer(
            "BrokerSocket",
            ["BrokerModel", "BrokerValues", "BrokerSystem", "CBrokerLinux", .nioCore, .nioPosix, .nioHTTP1, .logging]),
        layer("BrokerRPC", ["BrokerValues"]),
        layer("BrokerOIDCAgent", ["BrokerModel", "BrokerValues", "CSodium"]),

        // Decisions
        layer("BrokerEngine", ["BrokerTokenCache", "BrokerModel", "BrokerValues", .logging]),
        layer("BrokerAccess", ["BrokerModel", "BrokerValues", .logging]),
        layer("BrokerVaultSQLite", ["BrokerVault", "BrokerModel", "BrokerSystem", "CSQLite", .logging]),

        // Store, provider, host
        layer(
            "BrokerVault",
            [
                "BrokerModel", "BrokerValues", "BrokerSystem", "BrokerBus", "CBrokerLinux", "CSodium", .logging,
            ]),
        layer("BrokerTokenCache", ["BrokerModel", "BrokerValues", .logging]),
        layer("BrokerOAuth", ["BrokerModel", "BrokerValues", "BrokerSystem", "CCurl", "CSignatures"]),
        layer(
            "BrokerHost",
            [
                "BrokerModel", "BrokerValues", "BrokerSystem", "BrokerBus", "CSystemd", "CBrokerLinux", .logging,
            ]),
        layer("BrokerConfig", ["BrokerModel", "BrokerValues", "BrokerSystem", "CToml"]),

        // Model
        layer("BrokerModel", ["BrokerValues", "BrokerSystem", "CSodium"]),
        layer("BrokerCommandLine", ["BrokerValues"]),
        layer("BrokerBus", ["BrokerSystem", "CSystemd"]),
        layer("BrokerValues", []),
        layer("BrokerSystem", []),

        // C
        .target(name: "CArguments", path: "Sources/C/CArguments"),
        .target(name: "CWipingHeap", path: "Sources/C/CWipingHeap"),
        .target(name: "CSignatures", dependencies: ["COpenSSL"], path: "Sources/C/CSignatures"),
        .target(name: "CProviderKeys", dependencies: ["COpenSSL"], path: "Sources/C/CProviderKeys"),
        .target(name: "CBrokerLinux", path: "Sources/C/CBrokerLinux"),
        .target(name: "CToml", path: "Sources/C/CToml"),
        system("CSodium", pkgConfig: "libsodium", apt: "libsodium-dev"),
        system("CCurl", pkgConfig: "libcurl", apt: "libcurl4-openssl-dev"),
        system("COpenSSL", pkgConfig: "libcrypto", apt: "libssl-dev"),
        .target(name: "CQREncode", path: "Sources/C/CQREncode"),
        system("CSystemd", pkgConfig: "libsystemd", apt: "libsystemd-dev"),
        system("CSQLite", pkgConfig: "sqlite3", apt: "libsqlite3-dev"),

        // Tests mirror targets
        .target(
            name: "BrokerTestSupport",
            dependencies: [
                "BrokerModel", "BrokerValues", "BrokerSystem", "BrokerVault", "BrokerVaultSQLite", "BrokerOAuth",
                "BrokerRPC", "DevIdentityProvider", "CBrokerLinux", "CTestSupport", "CSQLite", .nioCore, .nioPosix,
                .nioHTTP1, .logging,
            ],
            path: "Tests/BrokerTestSupport", exclude: ["Fixtures"], swiftSettings: strict),
        .target(name: "CTestSupport", path: "Tests/CTestSupport"),
        tests("ArchitectureTests", []),
        tests("BrokerSystemTests", ["BrokerSystem", "CBrokerLinux"]),
        tests("BrokerValuesTests", ["BrokerValues"]),
        tests("BrokerModelTests", ["BrokerModel", "BrokerValues"]),
        tests("BrokerVaultTests", ["BrokerVault", "BrokerVaultSQLite", "BrokerModel", "BrokerValues", "CSQLite"]),
        program(
            "vault-torture", ["BrokerVault", "BrokerVaultSQLite", "BrokerModel", .logging], path: "Tests/VaultTorture"),
        tests(
            "BrokerOAuthTests", ["BrokerOAuth", "BrokerVault", "BrokerModel", "BrokerValues", "DevIdentityProvider"]),
        tests("BrokerHostTests", ["BrokerHost", "BrokerModel", "BrokerValues", .logging]),
        // Shows what only a separate process can: the descriptors, environment and attributes it was started with.
        program(
            "host-probe",
            [
                "BrokerAccess", "BrokerSocket", "BrokerHost", "BrokerModel", "BrokerValues", "BrokerSystem",
                "CBrokerLinux", .logging,
            ],
            path: "Tests/HostProbe"),
        tests("BrokerConfigTests", ["BrokerConfig", "BrokerModel", "BrokerValues", "BrokerVault"]),
        tests("BrokerTokenCacheTests", ["BrokerTokenCache", "BrokerModel", "BrokerValues", .logging]),
        tests("BrokerEngineTests", ["BrokerEngine", "BrokerTokenCache", "BrokerModel", "BrokerValues"]),
        tests("BrokerAccessTests", ["BrokerAccess", "BrokerModel", "BrokerValues"]),
        tests(
            "BrokerSocketTests",
            ["BrokerSocket", "BrokerModel", "BrokerValues", "DevIdentityProvider", .nioCore, .nioPosix, .logging]),
        tests("BrokerRPCTests", ["BrokerRPC", "BrokerValues"]),
        tests("BrokerOIDCAgentTests", ["BrokerOIDCAgent", "BrokerModel", "BrokerValues", "CSodium"]),
        tests(
            "BrokerServerTests",
            [
                "BrokerServer", "BrokerSocket", "BrokerRPC", "BrokerEngine", "BrokerAccess", "BrokerModel",
                "BrokerValues", .logging,
            ]
        ),
        tests("BrokerClientTests", ["BrokerClient", "BrokerRPC", "BrokerValues", "DevIdentityProvider"]),
        tests(
            "BrokerCommandsTests",
            ["BrokerCommands", "BrokerCommandLine", "BrokerRPC", "BrokerValues", "DevIdentityProvider"]),
        tests("BrokerDaemonTests", ["BrokerDaemon", "BrokerCommandLine", "BrokerConfig"]),
        tests("DevIdentityProviderTests", ["DevIdentityProvider", "BrokerModel", "BrokerValues"]),
        tests("IntegrationTests", ["BrokerClient", "DevIdentityProvider", "BrokerModel", "BrokerValues", "CSodium"]),
        tests("MigrationGuideTests", ["BrokerClient", "DevIdentityProvider"]),
        tests("SystemdTests", ["DevIdentityProvider", "BrokerValues"]),
        tests(
            "ManualTests",
            ["BrokerDaemon", "BrokerCommands", "BrokerCommandLine", "BrokerConfig", "BrokerRPC", "BrokerValues"]),

        // Measurements: `make bench`
        program(
            "broker-bench",
            ["BrokerTestSupport", "BrokerVault", "BrokerModel", "BrokerRPC", "BrokerValues", "CEchoServer"],
            path: "Tests/Benchmarks/Runner"),
        .target(name: "CEchoServer", dependencies: ["CCurl"], path: "Tests/Benchmarks/CEchoServer"),
        // Depends only on the parts of brokerd, so that its release build has nearly all of it.
        program(
            "broker-parts",
            [
                "BrokerEngine", "BrokerTokenCache", "BrokerVault", "BrokerVaultSQLite", "BrokerRPC", "BrokerModel",
                "BrokerValues", .logging,
            ],
            path: "Tests/Benchmarks/Parts"),

        // An hour of everything: `make soak`
        program(
            "broker-soak",
            ["BrokerTestSupport", "DevIdentityProvider", "BrokerRPC", "BrokerValues", .nioCore, .nioPosix],
            path: "Tests/Soak"),
    ]
)
