// swift-tools-version: 6.2
import PackageDescription

// A package of its own: the fuzzer needs unsafe flags, and a package that has some cannot be depended upon by version.
// It compiles the very sources of the parser (the folders are links), so that everything in them is watched.

let watched: [SwiftSetting] = [.swiftLanguageMode(.v6), .unsafeFlags(["-sanitize=fuzzer,address"])]

let package = Package(
    name: "fuzzing",
    targets: [
        .target(name: "BrokerValues", swiftSettings: watched),
        .target(name: "BrokerRPC", dependencies: ["BrokerValues"], swiftSettings: watched),
        .executableTarget(
            name: "RequestFuzzer", dependencies: ["BrokerRPC", "BrokerValues"],
            swiftSettings: watched + [.unsafeFlags(["-parse-as-library"])],
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer,address", "-use-ld=lld"])]),
    ]
)
