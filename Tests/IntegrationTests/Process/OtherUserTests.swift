import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

@Suite("Other users", .needsRoot) struct OtherUserTests {
    @Test("a peer of another uid gets accessDenied and nothing more")
    func otherUID() async throws {
        try await withTestBed { bed in
            try Prerequisite.root.require()
            let broker = try await BrokerProcess.start(in: bed)
            // The modes of socket and directory exclude others; here they fail, and the broker must not.
            let directory = URL(filePath: broker.socket).deletingLastPathComponent().path
            for (path, mode) in [(bed.directory.path, 0o755), (directory, 0o755), (broker.socket, 0o666)] {
                #expect(chmod(path, mode_t(mode)) == 0)
            }
            let client = """
                import socket, sys
                connection = socket.socket(socket.AF_UNIX)
                connection.connect(sys.argv[1])
                connection.settimeout(600)
                try:
                    connection.sendall(b'{"jsonrpc":"2.0","id":1,"method":"apps.list"}\\n' * 3)
                except OSError:
                    pass
                answer = b''
                try:
                    while more := connection.recv(65536):
                        answer += more
                except ConnectionResetError:
                    pass
                sys.stdout.write(answer.decode())
                """
            let nobody = ["--reuid=65534", "--regid=65534", "--clear-groups", "--", "/usr/bin/python3", "-c", client]
            let result = try await bed.run(Launch("setpriv", nobody + [broker.socket]))
            #expect(result.succeeded, "\(result)")
            let lines = result.output.split(separator: "\n")
            #expect(lines.count == 1, "\(result)")
            let answer = try JSONDecoder().decode(JSONValue.self, from: Data((lines.first ?? "").utf8))
            #expect(answer["error.data.kind"] == "accessDenied")
            #expect(answer["error.data.reason"] == "otherUser")
            _ = try await broker.call("broker.status")
        }
    }
}
