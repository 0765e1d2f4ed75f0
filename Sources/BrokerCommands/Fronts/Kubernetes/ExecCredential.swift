import BrokerLink
import BrokerRPC
import BrokerSystem
import BrokerValues

/// The requests of kubectl and other Kubernetes clients to a credential plug-in, and the answers
/// (https://kubernetes.io/docs/reference/config-api/client-authentication.v1/). Pure.
package enum ExecCredential {
    /// The variable that holds the request.
    package static let variable = "KUBERNETES_EXEC_INFO"
    private static let versions = ["v1", "v1beta1"].map { "client.authentication.k8s.io/\($0)" }

    package struct Request: Sendable, Equatable {
        /// The answer must have the version of the request.
        package var apiVersion = versions[0]
        /// The cluster's configuration for this plug-in, from the kubeconfig.
        package var app: String?
        package var scopes: [String] = []

        package init() {}

        /// - Parameter text: the variable's value; `nil` if the client does not set it.
        package init(_ text: String?) throws(BrokerClientError) {
            guard let text, !text.isEmpty else { return }
            guard let request = (try? JSONReader.read(Array(text.utf8)))?.value.objectValue,
                request["kind"] == "ExecCredential"
            else {
                throw BrokerClientError(
                    .invalidParameter, "\(variable) holds no ExecCredential; leave it to kubectl to set it.")
            }
            let asked = request["apiVersion"]?.stringValue ?? ""
            guard versions.contains(asked) else {
                throw BrokerClientError(
                    .unsupported,
                    "The kubeconfig asks for \(asked.isEmpty ? "no version" : asked); set apiVersion of its exec entry to \(versions[0])."
                )
            }
            apiVersion = asked
            let cluster = request["spec"]?.objectValue?["cluster"]?.objectValue
            let settings = cluster?["config"]?.objectValue
            app = settings?["app"]?.stringValue
            scopes = settings?["scopes"]?.arrayValue?.compactMap(\.stringValue) ?? []
        }
    }

    package static func text(_ credential: TokenChoice.Credential, for request: Request) -> String {
        var status: JSONObject = ["token": .string(credential.token)]
        if credential.expiresOn != TokenEnd.unknown {
            status["expirationTimestamp"] = .string(utcText(credential.expiresOn))
        }
        let answer: JSONValue = [
            "apiVersion": .string(request.apiVersion), "kind": "ExecCredential", "status": .object(status),
        ]
        var writer = JSONWriter()
        writer.value(answer, sorted: true)
        return String(decoding: writer.bytes, as: UTF8.self) + "\n"
    }
}
