import BrokerAccess
import BrokerModel
import BrokerRPC
import BrokerValues

/// `sandboxes.…`.
struct SandboxHandlers: Sendable {
    let apps: AppDirectory
    let sandboxes: SandboxSockets?

    var all: [any AnyMethodHandler] {
        [
            .waiting(
                OpenSandbox.self, outcome: { RequestOutcome(words: "\(Self.words($0.params, $1.handle))") }
            ) { request throws(BrokerError) in try await open(request) },
            .waiting(ListSandboxes.self) { request throws(BrokerError) in
                ListSandboxes.Result(
                    sandboxes: try sockets.all(in: request.partition).map { ListSandboxes.OpenedSandbox($0) })
            },
            .waiting(
                CloseSandbox.self,
                outcome: { request, _ in
                    RequestOutcome(words: "the sandbox's socket \(request.params.handle) was closed")
                }
            ) { request throws(BrokerError) in
                try await sockets.close(request.params.handle, in: request.partition)
                return CloseSandbox.Result()
            },
        ]
    }

    private func open(_ request: Request<OpenSandbox>) async throws(BrokerError) -> OpenSandbox.Result {
        let sandbox = request.params.sandbox
        var named: [AppRegistration] = []
        for app in sandbox.apps ?? [] { named.append(try apps.registered(app, in: request.partition)) }
        let opened = try await sockets.open(
            sandbox, apps: named, lifetime: request.params.lifetime,
            with: request.params.isWhileConnected ? request.context.binding : nil, by: request.context.caller)
        return OpenSandbox.Result(handle: opened.handle, path: opened.path, doors: opened.doors)
    }

    private var sockets: SandboxSockets {
        get throws(BrokerError) {
            if let sandboxes { return sandboxes }
            throw BrokerError(.unsupported, "This broker has no sockets for sandboxes.")
        }
    }

    private static func words(_ params: OpenSandbox.Params, _ handle: String) -> String {
        let (sandbox, rights) = (params.sandbox, params.sandbox.rights.map(\.rawValue).joined(separator: ", "))
        let apps = sandbox.apps.map { "as \($0.joined(separator: ", "))" } ?? "as the apps that let it"
        let end = params.lifetime.map { ", for \($0.inSeconds)" } ?? ""
        let binding = params.isWhileConnected ? ", until its connection ends" : ""
        return "\(sandbox.name) got the socket \(handle) for itself (\(rights); \(apps))\(end)\(binding)"
    }
}

extension ListSandboxes.OpenedSandbox {
    fileprivate init(_ opened: SandboxSocket) {
        self.init()
        (handle, path, doors, sandbox) = (opened.handle, opened.path, opened.doors, opened.sandbox)
        (openedBy, openedOn, expiresOn) = (opened.openedBy, opened.openedOn, opened.expiresOn)
    }
}
