import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

@Suite("Grants for programs in real sandboxes")
struct SandboxGrantTests {
    /// Sends the lines of its input, and prints the requested number of answers.
    static let client = """
        import socket, sys
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(sys.argv[1])
        stream = connection.makefile('r')
        connection.sendall((sys.argv[2] + '\\n').encode())
        for number in range(int(sys.argv[3])):
            print(stream.readline(), end='', flush=True)
        """

    static func launch(_ broker: BrokerProcess, _ request: String, answers: Int = 1) -> Launch {
        Launch(
            "bwrap",
            [
                "--dev-bind", "/", "/", "--unshare-user", "--unshare-pid", "/usr/bin/python3", "-c", client,
                broker.socket, request, String(answers),
            ])
    }

    /// The answer to a program in a sandbox.
    private func answer(_ scene: DevelopmentScene, _ method: String, _ params: JSONObject) async throws -> JSONObject {
        let result = try await scene.bed.run(Self.launch(scene.broker, requestLine(method, params)))
        #expect(result.succeeded, "\(result)")
        return try JSONDecoder().decode(JSONObject.self, from: Data(result.output.utf8))
    }

    private func token(_ scene: DevelopmentScene, _ more: JSONObject = [:]) async throws -> JSONObject {
        try await answer(scene, "token.acquireSilent", DevelopmentScene.notes.merging(more) { $1 })
    }

    @Test("a program in a sandbox asks, the person approves with brokerctl, and revokes it")
    func story() async throws {
        try await withTestBed { bed in
            var scene = try await DevelopmentScene.signedIn(in: bed)
            let asked = try await token(scene)
            #expect(asked[path: "error.data.kind"] == "grantRequired" && asked[path: "error.data.app"] == "notes")
            let request = asked.text("error.data.grantRequest")
            #expect(asked.text("error.message").contains("brokerctl grants approve \(request)"))
            // Another program of that sandbox asks the same.
            #expect(try await token(scene).text("error.data.grantRequest") == request)

            let listed = try await scene.broker.ctl(["grants", "list"])
            #expect(listed.output.contains(request) && listed.output.contains("sandboxed"))
            #expect(listed.output.contains("rootMount=other"))
            #expect(try await scene.broker.ctl(["grants", "approve", request]).succeeded)
            #expect(try await token(scene)[path: "result.fromCache"] == true)

            try await scene.restart()
            #expect(try await token(scene)[path: "result.tokenType"] == "Bearer")
            let grants = try await scene.broker.call("grants.list")[path: "grants"].arrayValue ?? []
            let id = grants.first?["id"].stringValue ?? ""
            #expect(grants.count == 1 && grants.first?["uses"] == 2)
            #expect(try await scene.broker.ctl(["grants", "revoke", id]).succeeded)
            #expect(try await token(scene)[path: "error.data.kind"] == "grantRequired")
        }
    }

    /// Connects outside, and lets a program in a sandbox write on the connection.
    private static let leak = """
        import socket, subprocess, sys
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(sys.argv[1])
        stream = connection.makefile('r')
        if len(sys.argv) > 3:
            connection.sendall((sys.argv[3] + '\\n').encode())
            stream.readline()
        # It stays until it is answered: who is gone cannot be told.
        write = 'import os, sys; os.write(int(sys.argv[1]), (sys.argv[2] + chr(10)).encode()); sys.stdin.read()'
        inside = subprocess.Popen(
            ['bwrap', '--dev-bind', '/', '/', '--unshare-user', '/usr/bin/python3', '-c', write,
             str(connection.fileno()), sys.argv[2]], pass_fds=[connection.fileno()], stdin=subprocess.PIPE)
        print(stream.readline(), end='')
        inside.communicate()
        """

    @Test("a connection that was made outside counts as a sandbox's after one writes on it")
    func handedOn() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.signedIn(in: bed)
            let token = try requestLine("token.acquireSilent", DevelopmentScene.notes)
            let administration = #"{"jsonrpc":"2.0","id":2,"method":"grants.list"}"#
            for before in [[], [token]] {
                for (request, kind) in [(token, ["grantRequired"]), (administration, ["accessDenied"])] {
                    let arguments = ["-c", Self.leak, scene.broker.socket, request] + before
                    let result = try await scene.bed.run(Launch("/usr/bin/python3", arguments))
                    #expect(result.succeeded, "\(result)")
                    let answer = try JSONDecoder().decode(JSONObject.self, from: Data(result.output.utf8))
                    #expect(kind.contains(answer.text("error.data.kind")), "\(answer)")
                }
            }
        }
    }

    /// Connects outside, and continues inside as the same process, with the same connection; a child does it if that is the last word.
    private static let enter = #"""
        import os, socket, sys
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(sys.argv[1])
        if sys.argv[-1] == 'child':
            sys.argv.pop()
            child = os.fork()
            if child:
                sys.exit(os.waitpid(child, 0)[1])
        connection.sendall((sys.argv[2] + '\n').encode())
        print(connection.makefile('r').readline(), end='', flush=True)
        os.set_inheritable(connection.fileno(), True)
        inside = [sys.executable, '-c', sys.argv[3], str(connection.fileno()), sys.argv[2]]
        os.execvp(sys.argv[4], sys.argv[4:] + inside)
        """#

    /// Sends requests until it is refused, and prints the refusal.
    private static let goOn = """
        import socket, sys
        stream = socket.socket(fileno=int(sys.argv[1])).makefile('rw')
        answer = '"result"'
        while '"result"' in answer:
            print(sys.argv[2], file=stream, flush=True)
            answer = stream.readline()
        print(answer, end='')
        """

    @Test(
        "a process that enters a sandbox with its connection, or with one handed on to it, loses its app's rights",
        .needsRoot,
        arguments: [["--mount"], ["--user", "--map-current-user"], ["--net"]], [[], ["child"]])
    func entered(namespace: [String], writer: [String]) async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.signedIn(in: bed)
            let token = try requestLine("token.acquireSilent", DevelopmentScene.notes)
            let arguments =
                ["-c", Self.enter, scene.broker.socket, token, Self.goOn, "unshare"] + namespace + writer
            let result = try await bed.run(Launch("/usr/bin/python3", arguments))
            #expect(result.succeeded, "\(result)")
            let answers = try answers(in: result.output)
            #expect(answers.count == 2 && answers.first?[path: "result.tokenType"] == "Bearer", "\(result)")
            #expect(answers.last?[path: "error.data.kind"] == "grantRequired", "\(result)")
        }
    }

    @Test("administration, own clients and other accounts are refused to a sandbox")
    func walls() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.signedIn(in: bed)
            for method in ["grants.list", "broker.callers", "accounts.list"] {
                #expect(try await answer(scene, method, [:])[path: "error.data.kind"] == "accessDenied", "\(method)")
            }
            let before = scene.provider.log.count
            let adHoc = try await answer(
                scene, "token.acquireInteractive",
                ["clientId": "demo-one", "authority": .string(scene.provider.issuer), "scopes": ["a"]])
            #expect(adHoc[path: "error.data.kind"] == "grantRequired")
            // The provider got no request: no sandbox reaches the network by naming an authority.
            #expect(scene.provider.log.count == before)
            let status = try await answer(scene, "broker.status", [:])
            #expect(
                status[path: "result.caller.tier"] == "sandboxed" && status[path: "result.caller.administers"] == false)
        }
    }

    @Test("a waiting program gets its token in the same request when the person agrees")
    func waits() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.signedIn(in: bed)
            let line =
                #"{"jsonrpc":"2.0","id":1,"method":"token.acquireSilent","params":{"app":"notes","scopes":["notes.read"],"waitForGrant":120}}"#
            let program = try bed.start(Self.launch(scene.broker, line, answers: 2), as: "sandboxed")
            try await program.waitForText("interaction.grant")
            let requests = try await scene.broker.call("grants.list")[path: "requests"].arrayValue ?? []
            let request = requests.first?["id"].stringValue ?? ""
            #expect(try await scene.broker.ctl(["grants", "approve", request]).succeeded)
            try await program.waitForText("accessToken")
        }
    }

    @Test("the configuration decides by tier")
    func settings() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(
                in: bed,
                options: {
                    $0.configuration = "[access]\nsandboxed = \"deny\"\nunknown = \"ask\"\nsystem_installed = \"ask\"\n"
                })
            #expect(try await token(scene)[path: "error.data.kind"] == "accessDenied")
            await expectRefusal("grantRequired") { try await scene.silent() }
            let result = try await scene.broker.ctl(["token", "--app", "notes", "--scope", "a"])
            #expect(result.status == .exited(5), "\(result)")
        }
    }
}
