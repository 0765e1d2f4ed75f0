import BrokerTestSupport
import Foundation
import Testing

/// `Sources/Python/tests`, which start separate brokers and development providers.
@Suite("The client for Python, its adapters in their real libraries")
struct PythonClientTests {
    @Test(
        "the client gets tokens from a real broker",
        arguments: ["test_broker", "test_absence", "test_wire", "test_aio"])
    func client(module: String) async throws { try await run(module) }

    @Test(
        "the client works with the libraries, installs with pip, is typed, and its recipes run",
        arguments: ["test_adapters", "test_package"])
    func adapters(module: String) async throws { try await run(module) }

    private func run(_ module: String) async throws {
        try await withTestBed { bed in
            let python = try await PythonEnvironment.shared.python(in: bed)
            let sources = PackageTree.root.appending(path: "Sources/Python").path
            let environment = [
                "PYTHONPATH": "\(sources):\(sources)/tests", "PYTHONDONTWRITEBYTECODE": "1",
                "BROKERD": try PackageTree.program("brokerd"),
                "BROKER_DEV_IDP": try PackageTree.program("broker-dev-idp"),
            ]
            let result = try await bed.run(
                Launch(python, ["-m", "unittest", module], environment: environment))
            #expect(result.succeeded, "\(result)")
        }
    }
}
