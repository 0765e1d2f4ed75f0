import BrokerTestSupport
import DevIdentityProvider
import Foundation
import Testing

@Suite("An app that uses the client library as a package") struct ClientPackageTests {
    @Test("it fetches nothing else, builds without the daemon's C libraries, and gets a token")
    func alone() async throws {
        try await withTestBed { bed in
            let app = try bed.makeDirectory("app")
            try FileManager.default.createDirectory(atPath: app + "/Sources/app", withIntermediateDirectories: true)
            try """
            // swift-tools-version: 6.1
            import PackageDescription
            let package = Package(
                name: "app", dependencies: [.package(name: "token-broker", path: "\(PackageTree.root.path)", traits: [])],
                targets: [
                    .executableTarget(
                        name: "app", dependencies: [.product(name: "BrokerClient", package: "token-broker")])
                ])

            """.write(toFile: app + "/Package.swift", atomically: true, encoding: .utf8)
            try """
            import BrokerClient
            let application = try PublicClientApplication(configuration: PublicClientApplicationConfig(app: "notes"))
            let parameters = SilentTokenParameters(scopes: ["\(DevelopmentScene.scope)"])
            print(try await application.acquireTokenSilent(with: parameters).accessToken)

            """.write(toFile: app + "/Sources/app/main.swift", atomically: true, encoding: .utf8)

            // SwiftPM leaves its locks in the folder for temporary files.
            let built = try await bed.run(
                Launch("swift", ["build", "--package-path", app], environment: ["TMPDIR": app]))
            #expect(built.succeeded, "\(built)")
            #expect(!built.output.contains("Fetching") && !built.errors.contains("Fetching"), "\(built)")
            let checkouts = app + "/.build/checkouts"
            #expect(
                try !FileManager.default.fileExists(atPath: checkouts)
                    || FileManager.default.contentsOfDirectory(atPath: checkouts).isEmpty)
            let libraries = try await bed.run(Launch("ldd", [app + "/.build/debug/app"]))
            for name in ["sodium", "curl", "sqlite", "systemd"] { #expect(!libraries.output.contains("lib\(name)")) }

            let scene = try await DevelopmentScene.make(in: bed)
            let token = try await scene.signIn().accessToken
            let run = try await bed.run(
                Launch(app + "/.build/debug/app", [], environment: ["BROKER_SOCKET": scene.broker.socket]))
            #expect(run.output == token + "\n", "\(run)")
        }
    }
}
