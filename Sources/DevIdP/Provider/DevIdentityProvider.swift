import Hummingbird
import Logging
import NIOCore

/// An OpenID provider for development and tests. It is NOT for production: its people and passwords are made up, its
/// keys and tokens live in memory, and anyone who reaches its port can make it lie.
package enum DevIdentityProvider {
    package static let warning = "Development identity provider: for tests and demos, NOT for production."

    /// Starts a provider in this process.
    ///
    /// - Returns: after its socket accepts connections.
    /// - Throws: ``ProviderStartError``.
    package static func start(_ options: ProviderOptions = ProviderOptions()) async throws -> RunningProvider {
        try check(options)
        let provider = Provider(options, keys: try keys())
        let (bound, announce) = AsyncThrowingStream<Int, any Error>.makeStream()
        let application = Application(
            router: provider.routes(),
            configuration: ApplicationConfiguration(address: .hostname(options.host, port: Int(options.port))),
            onServerRunning: { channel in
                let port = channel.localAddress?.port ?? Int(options.port)
                let host = options.host.contains(":") ? "[\(options.host)]" : options.host
                provider.setPlace(host: host, port: options.frontPort.map { Int($0) } ?? port)
                announce.yield(port)
            },
            logger: Logger(label: "dev-idp") { _ in SwiftLogNoOpLogHandler() })
        let serving = Task {
            do { try await application.run() } catch { announce.finish(throwing: error) }
        }
        do {
            for try await port in bound { return RunningProvider(provider, port: port, serving: serving) }
            throw ProviderStartError("The provider ended before it listened.")
        } catch let error as ProviderStartError {
            throw error
        } catch {
            throw ProviderStartError("Cannot listen on \(options.host) port \(options.port): \(error).")
        }
    }

    private static func keys() throws(ProviderStartError) -> SigningKeys {
        do {
            try Digest.sha256.check()
            return try SigningKeys()
        } catch { throw ProviderStartError(error.description) }
    }

    private static func check(_ options: ProviderOptions) throws(ProviderStartError) {
        guard ["127.0.0.1", "::1", "localhost"].contains(options.host) else {
            throw ProviderStartError(
                "\(options.host) is not a loopback address. This provider listens on 127.0.0.1, ::1 or localhost only.")
        }
        let path = options.issuerPath
        guard path.isEmpty || (path.hasPrefix("/") && !path.hasSuffix("/") && !path.contains("?")) else {
            throw ProviderStartError("The issuer path must start with a slash and not end with one: \(path).")
        }
        guard !options.users.isEmpty else { throw ProviderStartError("The provider needs at least one user.") }
    }
}

/// Why a provider did not start, as one sentence for a person.
package struct ProviderStartError: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
