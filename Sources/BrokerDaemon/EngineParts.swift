import BrokerAccess
import BrokerConfig
import BrokerEngine
import BrokerHost
import BrokerModel
import BrokerOAuth
import BrokerSocket
import BrokerValues
import BrokerVault
import Glibc
import Logging
import NIOPosix

/// The engine with the parts that it works with: registered apps, providers and the browser.
struct EngineParts: Sendable {
    let directory: AppDirectory
    let provider: OAuthProvider
    let browser: BrowserLauncher
    let broker: TokenBroker
    /// The event loop of the browser's pages.
    let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    init(
        _ configuration: BrokerConfiguration, _ vault: Vault, _ http: HTTPClient,
        payer: @escaping @Sendable (Partition) -> Partition, clock: SystemClock, logger: Logger
    ) {
        directory = AppDirectory(vault: vault, authorities: configuration.authorities, log: logger)
        directory.apply(configuration.apps.entries)
        let proofs = ES256ProofSigner(random: SystemRandom())
        provider = OAuthProvider(
            http: http, clock: clock, proofs: proofs, completions: configuration.completions,
            documents: DocumentStore(vault: vault, partition: Partition(uid: geteuid())))
        browser = BrowserLauncher(command: configuration.browser.command, clock: clock, logger: logger)
        broker = TokenBroker(
            vault: vault, provider: provider,
            redirects: LoopbackRedirectListener(
                on: loops.next(), limits: configuration.redirectLimits, logger: logger),
            browser: browser, roster: directory, proofs: proofs, clock: clock, random: SystemRandom(),
            settings: configuration.engineSettings, payer: payer, log: logger)
    }

    /// Applies the settings of a reload.
    func apply(_ configuration: BrokerConfiguration) {
        broker.apply(configuration.engineSettings)
        provider.apply(configuration.completions)
        directory.apply(configuration.authorities)
        directory.apply(configuration.apps.entries)
        browser.apply(command: configuration.browser.command)
    }
}
