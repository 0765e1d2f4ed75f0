// swift-tools-version: 6.2
import PackageDescription

// A separate package: the fuzzer needs unsafe flags, and a package with these cannot be a dependency by version.
// It compiles the parsers' own sources (the folders are links), so that everything in them is instrumented.

let watched: [SwiftSetting] = [.swiftLanguageMode(.v6), .unsafeFlags(["-sanitize=fuzzer,address"])]

func layer(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: watched)
}

func system(_ name: String, _ pkgConfig: String) -> Target {
    .systemLibrary(name: name, path: "Sources/C/\(name)", pkgConfig: pkgConfig)
}

let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let nio = ["NIOCore", "NIOPosix", "NIOHTTP1"].map { Target.Dependency.product(name: $0, package: "swift-nio") }

let package = Package(
    name: "fuzzing",
    dependencies: [
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    ],
    targets: [
        .executableTarget(
            name: "Fuzzer",
            dependencies: [
                "BrokerRPC", "BrokerSocket", "BrokerEngine", "BrokerVault", "BrokerOAuth", "BrokerConfig",
                "BrokerOIDCAgent", "BrokerModel", "BrokerValues", "CSignatures", "CSodium",
            ],
            swiftSettings: watched + [.unsafeFlags(["-parse-as-library"])],
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer,address", "-use-ld=lld"])]),
        layer("BrokerSocket", ["BrokerModel", "BrokerValues", "BrokerSystem", "CBrokerLinux", logging] + nio),
        layer("BrokerRPC", ["BrokerValues"]),
        layer("BrokerOIDCAgent", ["BrokerModel", "BrokerValues", "CSodium"]),
        layer("BrokerEngine", ["BrokerTokenCache", "BrokerModel", "BrokerValues", logging]),
        layer("BrokerTokenCache", ["BrokerModel", "BrokerValues", logging]),
        layer("BrokerOAuth", ["BrokerModel", "BrokerValues", "BrokerSystem", "CCurl", "CSignatures"]),
        layer(
            "BrokerVault",
            ["BrokerModel", "BrokerValues", "BrokerSystem", "BrokerBus", "CBrokerLinux", "CSodium", logging]),
        layer("BrokerConfig", ["BrokerModel", "BrokerValues", "BrokerSystem", "CToml"]),
        layer("BrokerModel", ["BrokerValues", "BrokerSystem", "CSodium"]),
        layer("BrokerBus", ["BrokerSystem", "CSystemd"]),
        layer("BrokerValues", []),
        layer("BrokerSystem", []),
        .target(name: "CBrokerLinux", path: "Sources/C/CBrokerLinux"),
        .target(name: "CToml", path: "Sources/C/CToml"),
        .target(name: "CSignatures", dependencies: ["COpenSSL"], path: "Sources/C/CSignatures"),
        system("COpenSSL", "libcrypto"),
        system("CSodium", "libsodium"),
        system("CSystemd", "libsystemd"),
        system("CCurl", "libcurl"),
    ]
)
