import ArgumentParser
import DevIdentityProvider
import Glibc

@main
struct Main: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "broker-dev-idp",
        abstract: "An OpenID provider for development and tests. NOT for production.",
        discussion: """
            \(DevIdentityProvider.warning)

            Its people are alice, bob and carol (password: NAME-pw-1), its clients demo-one, demo-two, demo-other and \
            demo-confidential:demo-secret-1. With --flavor entra Alice is at home in the tenant alpha.test and a guest \
            of beta.test, Bob at home in beta.test, and Carol has a personal account. The first line on standard output is "issuer URL". Faults can be ordered \
            with --fault, and from a running provider at POST /control/fault.
            """)

    @OptionGroup(title: "Listening") var listening: ListeningFlags
    @OptionGroup(title: "Users and clients") var parties: PartyFlags
    @OptionGroup(title: "Tokens") var tokens: TokenFlags
    @OptionGroup(title: "Further exchanges") var exchanges: ExchangeFlags
    @OptionGroup(title: "Flavor") var flavor: FlavorFlags
    @OptionGroup(title: "Faults") var faults: FaultFlags

    func run() async throws {
        var options = ProviderOptions()
        flavor.apply(to: &options)
        listening.apply(to: &options)
        parties.apply(to: &options)
        flavor.applyFamily(to: &options)
        tokens.apply(to: &options)
        exchanges.apply(to: &options)
        options.faults = faults.fault

        let provider: RunningProvider
        do {
            provider = try await DevIdentityProvider.start(options)
        } catch let error as ProviderStartError {
            throw ValidationError(error.description)
        }
        announce(provider)
        await endingSignal(orEndOfInput: listening.stopWithInput)
        await provider.stop()
    }

    private func announce(_ provider: RunningProvider) {
        print("issuer \(provider.issuer)")
        if case .entra(let directory) = provider.flavor { announce(directory, at: provider) }
        fflush(nil)
        let warning = Array("\(DevIdentityProvider.warning)\n".utf8)
        _ = write(STDERR_FILENO, warning, warning.count)
    }

    private func announce(_ directory: EntraDirectory, at provider: RunningProvider) {
        print("authority \(provider.authority("common"))")
        for tenant in directory.tenants {
            print("authority \(provider.authority(tenant.id))  # \(tenant.name), \(tenant.domain)")
        }
        print(
            """
            # The broker's configuration for it:
            [provider."\(provider.origin)"]
            kind = "entra"
            """)
        let clouds = Set(directory.otherClouds.values).sorted()
        if !clouds.isEmpty {
            print("other_clouds = [" + clouds.map { "\"\($0)\"" }.joined(separator: ", ") + "]")
        }
        fflush(nil)
    }
}
