import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

@Suite("Sandbox sockets that end with their launcher's connection")
struct SandboxLauncherTests {
    /// The common start of each script; its output is a line of JSON each.
    private static let launcher = """
        import json, os, socket, sys
        broker = sys.argv[1]
        def connect(where):
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(where)
            return connection, connection.makefile('r')
        def ask(end, method, params, descriptors=()):
            connection, stream = end
            line = json.dumps({'jsonrpc': '2.0', 'id': 1, 'method': method, 'params': params}) + '\\n'
            if descriptors:
                socket.send_fds(connection, [line.encode()], descriptors)
            else:
                connection.sendall(line.encode())
            return stream.readline()
        box = {'engine': 'flatpak', 'id': 'org.example.Notes', 'apps': ['notes'], 'whileConnected': True}
        """

    private func run(_ scene: DevelopmentScene, _ script: String) async throws -> [JSONObject] {
        try Self.answers(
            try await scene.bed.run(
                Launch("/usr/bin/python3", ["-c", Self.launcher + "\n" + script, scene.broker.socket])))
    }

    private static func answers(_ result: CommandResult) throws -> [JSONObject] {
        try #require(result.succeeded, "\(result)")
        return try IntegrationTests.answers(in: result.output)
    }

    @Test("the socket, its folder and its connections exist until the launcher's connection ends")
    func story() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.signedIn(in: bed)
            let answers = try await run(
                scene,
                """
                end = connect(broker)
                opened = ask(end, 'sandboxes.open', box)
                print(opened, end='')
                path = json.loads(opened)['result']['path']
                inside = connect(path)
                print(ask(inside, 'broker.status', {}), end='')
                token = {'app': 'notes', 'scopes': ['\(DevelopmentScene.scope)']}
                print(ask(inside, 'token.acquireSilent', token), end='')
                print(ask(inside, 'grants.list', {}), end='')
                print(ask(connect(broker), 'sandboxes.list', {}), end='')
                end[0].shutdown(socket.SHUT_RDWR)
                assert inside[1].readline() == '', 'the connection outlives its sandbox'
                try:
                    connect(path)
                    assert False, 'somebody listens'
                except (ConnectionRefusedError, FileNotFoundError):
                    pass
                """)
            #expect(answers.count == 5)
            let path = answers[0].text("result.path")
            #expect(path.hasSuffix("/broker.sock") && !answers[0].text("result.handle").isEmpty)
            #expect(answers[1][path: "result.caller.id"] == "flatpak:org.example.Notes")
            #expect(answers[2][path: "result.fromCache"] == true)
            #expect(answers[3][path: "error.data.kind"] == "accessDenied")
            let open = answers[4][path: "result.sandboxes"].arrayValue ?? []
            #expect(open.count == 1 && open.first?["path"] == .string(path))
            try await eventually("the folder is gone") {
                !FileManager.default.fileExists(atPath: (path as NSString).deletingLastPathComponent)
            }
            #expect(try await scene.broker.call("sandboxes.list")[path: "sandboxes"] == [])
        }
    }

    @Test("the socket ends when another process writes on the launcher's connection")
    func handedOn() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            let answers = try await run(
                scene,
                """
                end = connect(broker)
                del box['apps']
                opened = ask(end, 'sandboxes.open', box)
                inside = connect(json.loads(opened)['result']['path'])
                child = os.fork()
                if child == 0:
                    ask(end, 'broker.status', {})
                    os._exit(0)
                os.waitpid(child, 0)
                assert inside[1].readline() == '', 'the sandbox outlives the hand-over'
                print(opened, end='')
                """)
            #expect(answers.count == 1)
            #expect(try await scene.broker.call("sandboxes.list")[path: "sandboxes"] == [])
        }
    }

    @Test(
        "a descriptor sent with a line of any method is refused, and the broker keeps none",
        .enabled(if: Prerequisite.root.shouldRun, "the daemon's descriptors are shown to root only"))
    func descriptors() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            _ = try await scene.broker.call("broker.status")
            try await eventually("the connection is gone") { try await scene.broker.connections() == 1 }
            let pid = scene.broker.process.pid
            let before = try ProcessDescriptors.count(of: pid)
            let answers = try await run(
                scene,
                """
                methods = [method['name'] for method in
                           json.loads(ask(connect(broker), 'rpc.discover', {}))['result']['methods']]
                assert 'sandboxes.open' in methods
                for method in methods:
                    for count in (1, 2, 253):
                        read, write = os.pipe()
                        end = connect(broker)
                        try:
                            answer = ask(end, method, {}, [write] * count)
                            assert end[1].readline() == '', 'the connection goes on'
                        except PermissionError:
                            # Linux 6.16 and later refuse for the broker.
                            answer = '{"error":{"data":{"kind":"accessDenied"}}}\\n'
                        os.close(write)
                        assert os.read(read, 1) == b'', 'somebody holds it'
                        os.close(read)
                        print(answer, end='')
                """)
            #expect(answers.count > 100)
            for answer in answers { #expect(answer[path: "error.data.kind"] == "accessDenied", "\(answer)") }
            try await eventually("their connections are closed") { try await scene.broker.connections() == 1 }
            try await eventually("no descriptor is left") { try ProcessDescriptors.count(of: pid) <= before }
        }
    }

    /// As another user of the machine.
    private static func launch(_ uid: Int, _ words: [String]) -> Launch {
        Launch("setpriv", ["--reuid=\(uid)", "--regid=\(uid)", "--clear-groups", "--"] + words)
    }

    @Test("in system mode only the user who opened it may connect, and no other user finds it", .needsRoot)
    func systemMode() async throws {
        try await withTestBed { bed in
            let scene = try await SystemScene.make(in: bed)
            let opener = """
                del box['apps']
                end = connect(broker)
                opened = ask(end, 'sandboxes.open', box)
                path = json.loads(opened)['result']['path']
                print(opened, end='')
                print(ask(connect(path), 'broker.status', {}), end='')
                print(ask(connect(broker), 'sandboxes.open', {**box, 'anyUid': True}), end='', flush=True)
                sys.stdin.readline()
                """
            var launch = Self.launch(
                12_001, ["/usr/bin/python3", "-c", Self.launcher + "\n" + opener, scene.broker.socket])
            launch.hasInput = true
            let program = try bed.start(launch, as: "opener")
            try await eventually("it is answered") {
                try program.requireRunning()
                return program.outputText.split(separator: "\n").count == 3
            }
            let answers = try IntegrationTests.answers(in: program.outputText)
            let path = answers[0].text("result.path")
            #expect(answers[1][path: "result.caller.id"] == "flatpak:org.example.Notes", "\(answers)")
            #expect(answers[2][path: "error.data.kind"] == "unsupported", "\(answers)")
            let stranger = """
                end = connect(sys.argv[2])
                print(end[1].readline(), end='')
                assert end[1].readline() == ''
                try:
                    os.listdir(os.path.dirname(os.path.dirname(sys.argv[2])))
                    assert False, 'the paths can be listed'
                except PermissionError:
                    pass
                """
            let refused = try Self.answers(
                await bed.run(
                    Self.launch(
                        12_002,
                        ["/usr/bin/python3", "-c", Self.launcher + "\n" + stranger, scene.broker.socket, path])))
            #expect(refused.first?[path: "error.data.kind"] == "accessDenied")
            #expect(refused.first?[path: "error.data.reason"] == "otherUser")
            program.send(SIGKILL)
            try await eventually("the folder is gone") {
                !FileManager.default.fileExists(atPath: (path as NSString).deletingLastPathComponent)
            }
        }
    }
}
