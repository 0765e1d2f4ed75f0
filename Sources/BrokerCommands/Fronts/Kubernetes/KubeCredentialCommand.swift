import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues

struct KubeCredentialCommand: FrontCommand {
    static var about: About {
        About(
            "kube-credential", "Give kubectl the tokens of an app (an exec credential plug-in).",
            """
            In the kubeconfig:
              users: [{name: work, user: {exec: {
                apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never,
                command: brokerctl, args: [kube-credential, --app, k8s]}}}]

            It never prompts: kubectl shows the command for a sign-in when one is needed. With provideClusterInfo, the \
            cluster's extension client.authentication.k8s.io/exec may name app and scopes instead of the arguments.

            Examples:
              brokerctl kube-credential --app k8s
              brokerctl kube-credential --app k8s --token access --scope 6dae42f8-4368-4678-94ff-3960e28e3630/.default
            """)
    }

    var global = GlobalOptions()
    var options = FrontOptions()
    var token = TokenChoice.id

    mutating func declareOwn(in arguments: inout Arguments) {
        arguments.group(&options)
        arguments.option(
            "token", &token, value: "kind",
            "The token for the cluster: the ID token, or the access token (id or access; id if left out).")
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        let request = try ExecCredential.Request(SocketLocation.variable(ExecCredential.variable))
        guard let app = options.app ?? request.app else {
            throw BrokerClientError(
                .invalidParameter,
                "No app is named; give --app in the kubeconfig's args, or app in the cluster's extension.")
        }
        var options = options
        if options.scopes.isEmpty { options.scopes = request.scopes }
        let asking = options.asking(as: app, global)
        let credential = try token.credential(asking, on: context.connection)
        StandardStream.output.write(ExecCredential.text(credential, for: request))
    }
}
