import ArgumentParser
import BrokerClient
import BrokerRPC
import BrokerValues

struct TokenFileCommand: WaitingSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "token-file", abstract: "Keep a token in a file, for programs that only read files.",
        discussion: """
            Runs until it is ended, and keeps the file current. The file is yours alone (0600), in a folder that is yours \
            alone. It is removed when the broker is locked or ends, when the account signs out, and at the end; it comes back \
            when the broker gives a token again. Whoever reads it has the token: prefer programs that ask the broker.

            Examples:
              brokerctl token-file --app cloud $XDG_RUNTIME_DIR/cloud-token
              brokerctl token-file --app cloud --token id $XDG_RUNTIME_DIR/cloud-token
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var options: FrontOptions

    @Option(help: ArgumentHelp("The access token or the ID token (access if left out).", valueName: "kind"))
    var token = TokenChoice.access

    @Argument(help: "Where the token is kept.", completion: .file())
    var path: String

    func validate() throws {
        guard options.app != nil else { throw ValidationError("Say for which app: --app.") }
    }

    func run(at location: SocketLocation, _ output: Output) async throws(BrokerClientError) {
        guard let app = options.app else { return }
        var keeper = try TokenFileKeeper(file: TokenFile(at: path), app: app, location: location, output: output) {
            [options, global, token] minimum, connection throws(BrokerClientError) in
            var asking = try options.asking(as: app, global, on: connection)
            asking.params.minimumLifetime = minimum > 0 ? minimum : nil
            return try token.credential(asking, on: connection)
        }
        try await keeper.run()
    }
}
