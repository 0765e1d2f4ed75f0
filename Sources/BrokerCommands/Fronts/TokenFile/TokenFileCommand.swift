import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues

struct TokenFileCommand: WaitingSubcommand {
    static var about: About {
        About(
            "token-file", "Keep a token in a file, for programs that only read files.",
            """
            Runs until it is stopped, and keeps the file current. The file is private (0600), in a folder that must be \
            private, too. It is removed when the broker is locked or stops, when the account signs out, and when this \
            command ends; it comes back when the broker gives a token again. Anyone who reads it has the token: prefer \
            programs that ask the broker.

            Examples:
              brokerctl token-file --app cloud $XDG_RUNTIME_DIR/cloud-token
              brokerctl token-file --app cloud --token id $XDG_RUNTIME_DIR/cloud-token
            """)
    }

    var global = GlobalOptions()
    var options = FrontOptions()
    var token = TokenChoice.access
    var path = ""

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.group(&options)
        arguments.option("token", &token, value: "kind", "The access token or the ID token (access if left out).")
        arguments.argument("path", &path, "The file to keep the token in.", completing: .files)
    }

    func validate() throws(UsageError) {
        guard options.app != nil else { throw UsageError("Name the app: --app.") }
    }

    func run(at location: SocketLocation, _ output: Output) async throws(BrokerClientError) {
        guard let app = options.app else { return }
        var keeper = try TokenFileKeeper(file: TokenFile(at: path), app: app, location: location, output: output) {
            [options, global, token] minimum, connection throws(BrokerClientError) in
            var asking = options.asking(as: app, global)
            asking.params.query.minimumLifetime = minimum > 0 ? minimum : nil
            return try token.credential(asking, on: connection)
        }
        try await keeper.run()
    }
}
