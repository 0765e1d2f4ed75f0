import BrokerTestSupport
import Foundation

/// Sandboxes without a name that look like many: nested namespaces and roots, a long list of mounts, endless connections, and
/// conflicting requests to the person. All other clients have to be served meanwhile.
struct Crowd {
    private let processes: [ManagedProcess]

    private static let sandboxes = 3

    static func start(at socket: String, in bed: TestBed) throws -> Crowd {
        let words = ["--user", "--map-root-user", "--mount", "/usr/bin/python3", "-c", script, socket]
        return Crowd(
            processes: try (0..<sandboxes).map { try bed.start(Launch("unshare", words), as: "crowd-\($0)") })
    }

    func stop() async {
        for process in processes { _ = await process.stop() }
    }

    private static let script = """
        import ctypes, json, os, random, socket, sys, tempfile, time
        libc = ctypes.CDLL(None)
        folder = tempfile.mkdtemp()
        libc.mount(b'none', folder.encode(), b'tmpfs', 0, None)
        for number in range(2000):
            place = f'{folder}/{number}'
            os.mkdir(place)
            libc.mount(b'none', place.encode(), b'tmpfs', 0, None)

        def flood():
            held = []
            while True:
                try:
                    connection = socket.socket(socket.AF_UNIX)
                    connection.settimeout(5)
                    connection.connect(sys.argv[1])
                    scopes = [f'scope-{random.random()}' for _ in range(random.choice([1, 60]))]
                    params = {'app': random.choice(['notes-0', 'mail-1']), 'scopes': scopes, 'waitForGrant': 5}
                    request = {'jsonrpc': '2.0', 'id': 1, 'method': 'token.acquireSilent', 'params': params}
                    connection.sendall((json.dumps(request) + '\\\\n').encode())
                    held.append(connection)
                    if len(held) > 40: held.pop(random.randrange(len(held))).close()
                except OSError:
                    held = held[1:]
                time.sleep(0.01)

        for _ in range(8):
            if os.fork() == 0:
                # One more sandbox in the sandbox, in half of the cases.
                if random.random() < 0.5: libc.unshare(0x10000000 | 0x00020000)
                flood()
        os.wait()
        """
}
