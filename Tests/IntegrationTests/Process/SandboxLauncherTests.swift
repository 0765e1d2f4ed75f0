import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

@Suite("Launchers that make a sandbox's socket themselves")
struct SandboxLauncherTests {
    /// Opens a sandbox on a socket of its own, and does what the words say; what it prints is a line of JSON each.
    private static let launcher = """
        import json, os, socket, sys
        broker, path = sys.argv[1:3]
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
        box = {'engine': 'flatpak', 'id': 'org.example.Notes', 'apps': ['notes']}
        def listener(where):
            own = socket.socket(socket.AF_UNIX)
            own.bind(where)
            own.listen()
            return own
        """

    private func run(_ scene: DevelopmentScene, _ script: String) async throws -> [JSONObject] {
        let result = try await scene.bed.run(
            Launch(
                "/usr/bin/python3",
                ["-c", Self.launcher + "\n" + script, scene.broker.socket, scene.bed.path("own.sock")]))
        #expect(result.succeeded, "\(result)")
        return try result.output.split(separator: "\n").map {
            try JSONDecoder().decode(JSONObject.self, from: Data($0.utf8))
        }
    }

    @Test("whoever connects to the launcher's socket is the sandbox, until the pipe is closed")
    func story() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            try await scene.signIn()
            let answers = try await run(
                scene,
                """
                own = listener(path)
                read, write = os.pipe()
                end = connect(broker)
                print(ask(end, 'sandboxes.open', box, [own.fileno(), read]), end='')
                own.close()
                os.close(read)
                inside = connect(path)
                print(ask(inside, 'broker.status', {}), end='')
                token = {'app': 'notes', 'scopes': ['\(DevelopmentScene.scope)']}
                print(ask(inside, 'token.acquireSilent', token), end='')
                print(ask(inside, 'grants.list', {}), end='')
                print(ask(end, 'sandboxes.list', {}), end='')
                os.close(write)
                assert inside[1].readline() == '', 'the connection outlives its sandbox'
                try:
                    connect(path)
                    assert False, 'somebody listens'
                except ConnectionRefusedError:
                    pass
                """)
            #expect(answers.count == 5)
            #expect(answers[0][path: "result.path"] == .null && !answers[0].text("result.handle").isEmpty)
            #expect(answers[1][path: "result.caller.id"] == "flatpak:org.example.Notes")
            #expect(answers[2][path: "result.fromCache"] == true)
            #expect(answers[3][path: "error.data.kind"] == "accessDenied")
            let open = answers[4][path: "result.sandboxes"].arrayValue ?? []
            #expect(open.count == 1 && open.first?["path"] == .null)
            let rest = try await scene.broker.call("sandboxes.list")[path: "sandboxes"]
            #expect(rest == [])
        }
    }

    @Test("a launcher that makes its socket wait, or shuts it down, makes nobody else wait and ends its sandbox")
    func hostile() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            let answers = try await run(
                scene,
                """
                own = listener(path)
                read, write = os.pipe()
                print(ask(connect(broker), 'sandboxes.open', box, [own.fileno(), read]), end='')
                # The flag is one for all who hold the socket.
                own.setblocking(True)
                inside = connect(path)
                print(ask(inside, 'broker.status', {}), end='')
                print(ask(connect(broker), 'sandboxes.list', {}), end='')
                own.shutdown(socket.SHUT_RDWR)
                assert inside[1].readline() == '', 'the connection outlives its sandbox'
                # Shut down before it is open.
                other = listener(path + '2')
                other.shutdown(socket.SHUT_RDWR)
                print(ask(connect(broker), 'sandboxes.open', box, [other.fileno(), read]), end='')
                """)
            #expect(answers.count == 4)
            #expect(answers[1][path: "result.caller.id"] == "flatpak:org.example.Notes")
            #expect(answers[2][path: "result.sandboxes"].arrayValue?.count == 1)
            try await eventually("no sandbox is left") {
                try await scene.broker.call("sandboxes.list")[path: "sandboxes"].arrayValue?.isEmpty == true
            }
        }
    }

    @Test("in system mode a launcher may be the first of its user who asks for anything", .needsRoot)
    func firstOfUser() async throws {
        try await withTestBed { bed in
            let scene = try await SystemScene.make(in: bed)
            let folder = try bed.makeDirectory("own")
            #expect(chown(folder, 12_001, 12_001) == 0)
            let script = """
                own = listener(path)
                read, write = os.pipe()
                print(ask(connect(broker), 'sandboxes.open', {'engine': 'podman', 'id': 'build'}, [own.fileno(), read]))
                """
            let result = try await bed.run(
                Launch(
                    "setpriv",
                    [
                        "--reuid=12001", "--regid=12001", "--clear-groups", "--", "/usr/bin/python3", "-c",
                        Self.launcher + "\n" + script, scene.broker.socket, folder + "/own.sock",
                    ]))
            #expect(result.succeeded && result.output.contains("handle"), "\(result)")
        }
    }

    @Test("what is no listening socket and no pipe is refused, by name, and leaves nothing behind")
    func wrong() async throws {
        try await withTestBed { bed in
            let scene = try await DevelopmentScene.make(in: bed)
            let answers = try await run(
                scene,
                """
                own = listener(path)
                read, write = os.pipe()
                plain = os.open(broker + '.log', os.O_CREAT | os.O_RDWR)
                one, other = socket.socketpair()
                datagrams = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
                tcp = socket.socket()
                tcp.bind(('127.0.0.1', 0))
                tcp.listen()
                for pair in (
                    [own.fileno()], [own.fileno(), plain], [read, write], [one.fileno(), read],
                    [datagrams.fileno(), read], [tcp.fileno(), read], [plain, read],
                    [own.fileno(), tcp.fileno()], [own.fileno(), os.eventfd(0)],
                ):
                    print(ask(connect(broker), 'sandboxes.open', box, pair), end='')
                # Three are too many for the kernel to hand over: a socket of the broker's own is made.
                print(ask(connect(broker), 'sandboxes.open', box, [own.fileno(), read, write]), end='')
                # Gone before it is watched.
                gone, there = os.pipe()
                os.close(there)
                print(ask(connect(broker), 'sandboxes.open', box, [own.fileno(), gone]), end='')
                # One socket is one sandbox's.
                third = listener(path + '3')
                for number in (1, 2):
                    last = ask(connect(broker), 'sandboxes.open', box, [third.fileno(), read])
                print(last, end='')
                os.close(write)
                """)
            #expect(answers.count == 12)
            for answer in answers.prefix(9) + answers.suffix(1) {
                #expect(answer[path: "error.data.kind"] == "invalidParameter", "\(answer)")
            }
            #expect(answers[9].text("result.path").hasSuffix("/broker.sock"))
            #expect(!answers[10].text("result.handle").isEmpty)
            try await eventually("only the one with a path is left") {
                try await scene.broker.call("sandboxes.list")[path: "sandboxes"].arrayValue?.count == 1
            }
        }
    }
}
