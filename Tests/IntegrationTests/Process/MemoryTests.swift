import BrokerModel
import BrokerTestSupport
import BrokerValues
import CSodium
import Foundation
import Testing

/// The secrets that a reader of the broker's memory finds in it.
private struct MemoryImage {
    let file: String
    private let bed: TestBed

    /// All readable mappings, except for programs and libraries.
    static func take(of broker: BrokerProcess, in bed: TestBed) async throws -> MemoryImage {
        let file = bed.path(bed.unique("image"))
        let copy = """
            import sys
            pid, target = sys.argv[1:]
            with open(f'/proc/{pid}/maps') as maps, open(f'/proc/{pid}/mem', 'rb', 0) as memory, open(target, 'wb') as out:
                for line in maps:
                    fields = line.split()
                    is_program = len(fields) > 5 and fields[5].startswith('/') and 'w' not in fields[1]
                    if not fields[1].startswith('r') or is_program or '[v' in line:
                        continue
                    start, end = (int(bound, 16) for bound in fields[0].split('-'))
                    memory.seek(start)
                    try:
                        out.write(memory.read(end - start))
                    except OSError:
                        pass
            """
        let result = try await bed.run(Launch("python3", ["-c", copy, "\(broker.process.pid)", file]))
        guard result.succeeded else { throw ProcessFailure("\(result)") }
        return MemoryImage(file: file, bed: bed)
    }

    /// The count of each needle: literally, in base64 of any alignment, and as UTF-16.
    func count(_ needles: [Data]) async throws -> [Int] {
        let search = """
            import base64, sys
            image = open(sys.argv[1], 'rb').read()
            for line in sys.stdin:
                needle = bytes.fromhex(line.strip())
                forms = {needle, needle.hex().encode(), needle.decode('latin-1').encode('utf-16-le')}
                for shift in range(3):
                    coded = base64.b64encode(needle[shift:shift + (len(needle) - shift) // 3 * 3])
                    forms |= {coded, coded.replace(b'+', b'-').replace(b'/', b'_')}
                print(sum(image.count(form) for form in forms))
            """
        let input = needles.map { $0.map { String(format: "%02x", $0) }.joined() }.joined(separator: "\n") + "\n"
        let result = try await bed.run(Launch("python3", ["-c", search, file]), input: input)
        return result.output.split(separator: "\n").compactMap { Int($0) }
    }
}

/// The vault's file, for a reader with the key file.
private struct OpenedVault {
    /// The key that records are sealed with.
    let sealingKey: Data

    init(_ broker: BrokerProcess, in bed: TestBed) async throws {
        let keyText = try String(contentsOfFile: "\(broker.stateDirectory)/vault.key", encoding: .utf8)
        let key = try Self.bytes(String(keyText.split(separator: "\n")[1]))
        func value(_ query: String) async throws -> [UInt8] {
            let text = try await bed.query(query, ofVaultIn: broker.stateDirectory)
            return try Self.bytes(text.trimmingCharacters(in: .whitespacesAndNewlines))
        }
        let vaultID = try await value("SELECT hex(value) FROM header WHERE name = 'vault-id'")
        let wrapped = try await value("SELECT hex(wrapped) FROM partition_key WHERE partition = \(getuid())")
        var context: [UInt8] = []
        func append(_ number: UInt32) { withUnsafeBytes(of: number.littleEndian) { context.append(contentsOf: $0) } }
        func append(_ bytes: [UInt8]) {
            append(UInt32(bytes.count))
            context += bytes
        }
        append(Array("token-broker data key".utf8))
        append(2)
        append(vaultID)
        append(Array("key-file".utf8))
        context.append(1)
        append(getuid())
        var dataKey = [UInt8](repeating: 0, count: 32)
        let wrapping = Self.subkey(of: key, "tb-wraps")
        let isOpen = crypto_aead_xchacha20poly1305_ietf_decrypt(
            &dataKey, nil, nil, Array(wrapped[24...]), UInt64(wrapped.count - 24), context, UInt64(context.count),
            Array(wrapped[..<24]), wrapping)
        guard isOpen == 0 else { throw ProcessFailure("the wrapped key does not open") }
        sealingKey = Data(Self.subkey(of: dataKey, "tb-vault"))
    }

    private static func subkey(of key: [UInt8], _ context: String) -> [UInt8] {
        var subkey = [UInt8](repeating: 0, count: 32)
        _ = crypto_kdf_derive_from_key(&subkey, 32, 1, context, key)
        return subkey
    }

    private static func bytes(_ hex: String) throws -> [UInt8] {
        try stride(from: 0, to: hex.count, by: 2).map { place in
            let start = hex.index(hex.startIndex, offsetBy: place)
            return try #require(UInt8(hex[start...].prefix(2), radix: 16))
        }
    }
}

@Suite("The broker's memory, read from outside", .serialized, .needsRoot)
struct MemoryTests {
    @Test("while the broker is locked, root finds neither tokens nor the data key nor a client secret")
    func locked() async throws {
        try await withTestBed { bed in
            try Prerequisite.root.require()
            let provider = try await ScriptedProvider.start(in: bed)
            let secret = "client-secret-" + UUID().uuidString
            let broker = try await BrokerProcess.start(in: bed)
            try await broker.register(
                "notes", clientID: "native", authority: provider.issuer, ["clientSecret": .string(secret)])
            _ = try await broker.signIn(app: "notes", in: bed) { ProviderRedirect(url: provider.approve($0)) }
            for _ in 0..<3 { _ = try await broker.acquireSilent(app: "notes", ["forceRefresh": true]) }
            let token = try await broker.acquireSilent(app: "notes")["accessToken"]?.stringValue ?? ""
            let key = try await OpenedVault(broker, in: bed).sealingKey

            // The search works: it always finds the key, and for some seconds a requested token.
            try await eventually("the key and the token are found") {
                _ = try await broker.acquireSilent(app: "notes")
                let open = try await MemoryImage.take(of: broker, in: bed)
                return try await open.count([key, Data(token.utf8)]).allSatisfy { $0 > 0 }
            }

            // A question to the person and a subscription outlive the lock.
            let box = try await broker.call("sandboxes.open", ["engine": "podman", "id": "box"]).text("path")
            let (asking, listening) = (try await WireConnection.connect(to: box), try await broker.connect())
            let question = await #expect(throws: Refusal.self) {
                _ = try await asking.call("token.acquireSilent", ["app": "notes", "scopes": ["api"]])
            }
            #expect(question?.kind == "grantRequired")
            _ = try await listening.call("broker.subscribe", ["app": "notes", "topics": ["token"]])

            #expect(try await broker.ctl(["lock"]).status == .exited(0))
            let image = try await MemoryImage.take(of: broker, in: bed)
            for connection in [asking, listening] { await connection.close() }
            // The last refresh token is known after it is used.
            #expect(try await broker.ctl(["unlock"]).status == .exited(0))
            _ = try await broker.acquireSilent(app: "notes", ["forceRefresh": true])
            let spent = provider.requests(to: .token).compactMap { request in
                RedirectParameters.form(request.body)["refresh_token"]
            }
            #expect(spent.count == 4)
            let needles = [key, Data(secret.utf8), Data(token.utf8)] + spent.map { Data($0.utf8) }
            let found = try await image.count(needles)
            #expect(found == needles.map { _ in 0 }, "the key, the client's secret, the access token, refresh tokens")
        }
    }

    /// A broker that has just answered with an access token, which is in its memory.
    private func answering(in bed: TestBed) async throws -> (broker: BrokerProcess, token: String, needle: Data) {
        try Prerequisite.root.require()
        let provider = try await ScriptedProvider.start(in: bed)
        let broker = try await BrokerProcess.start(in: bed)
        try await broker.register("notes", clientID: "native", authority: provider.issuer)
        _ = try await broker.signIn(app: "notes", in: bed) { ProviderRedirect(url: provider.approve($0)) }
        let token = try await broker.acquireSilent(app: "notes")["accessToken"]?.stringValue ?? ""
        let needle = Data(token.utf8)
        #expect(try await MemoryImage.take(of: broker, in: bed).count([needle]).first ?? 0 > 0)
        return (broker, token, needle)
    }

    @Test("a token of a signed-out account is not in memory any more")
    func signedOut() async throws {
        try await withTestBed { bed in
            let (broker, _, needle) = try await answering(in: bed)
            _ = try await broker.acquireSilent(app: "notes")
            _ = try await broker.signOut(app: "notes")
            #expect(try await MemoryImage.take(of: broker, in: bed).count([needle]) == [0])
        }
    }

    @Test("a token that is not requested is sealed in memory some seconds later")
    func unused() async throws {
        try await withTestBed { bed in
            let (broker, token, needle) = try await answering(in: bed)
            try await eventually("it is nowhere in the clear") {
                try await MemoryImage.take(of: broker, in: bed).count([needle]) == [0]
            }
            #expect(try await broker.acquireSilent(app: "notes")["accessToken"] == .string(token))
        }
    }

    @Test("the passphrase is nowhere in memory, neither after it was set nor after it unlocked")
    func passphrase() async throws {
        try await withTestBed { bed in
            try Prerequisite.root.require()
            let passphrase = "passphrase-" + UUID().uuidString
            let broker = try await BrokerProcess.start(in: bed)
            let set = try await broker.ctl(["key", "set-source", "passphrase", "--stdin"], input: passphrase + "\n")
            #expect(set.status == .exited(0), "\(set)")
            for _ in 0..<2 {
                let image = try await MemoryImage.take(of: broker, in: bed)
                #expect(try await image.count([Data(passphrase.utf8)]) == [0])
                _ = try await broker.ctl(["lock"])
                let unlocked = try await broker.ctl(["unlock", "--stdin"], input: passphrase + "\n")
                #expect(unlocked.status == .exited(0), "\(unlocked)")
            }
            for file in ["environ", "cmdline"] {
                let bytes = try Data(contentsOf: URL(filePath: "/proc/\(broker.process.pid)/\(file)"))
                #expect(bytes.range(of: Data(passphrase.utf8)) == nil)
            }
        }
    }

    @Test("another process of the same user cannot read the memory, nor the environment")
    func sameUser() async throws {
        try await withTestBed { bed in
            try Prerequisite.root.require()
            let nobody = ["--reuid=65534", "--regid=65534", "--clear-groups", "--"]
            let state = try bed.makeDirectory("nobody")
            #expect(chown(state, 65_534, 65_534) == 0)
            let socket = "\(state)/run/broker.sock"
            let process = try bed.start(
                Launch(
                    "setpriv",
                    nobody + [
                        try bed.sharedProgram("brokerd"), "--socket", socket, "--state-dir", "\(state)/vault",
                    ], environment: ["HOME": state]), as: "brokerd")
            try await eventually("it serves") {
                try process.requireRunning()
                return FileManager.default.fileExists(atPath: socket)
            }
            let read = """
                import sys
                for name in ('mem', 'environ', 'maps', 'auxv'):
                    try:
                        open(f'/proc/{sys.argv[1]}/{name}', 'rb').read(1)
                        print(name)
                    except PermissionError:
                        pass
                """
            let result = try await bed.run(
                Launch("setpriv", nobody + ["/usr/bin/python3", "-c", read, "\(process.pid)"]))
            #expect(result.succeeded && result.output.isEmpty, "\(result)")
            let limits = try String(contentsOfFile: "/proc/\(process.pid)/limits", encoding: .utf8)
            let core = limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") }
            #expect(core?.split(separator: " ").dropFirst(4).prefix(2) == ["0", "0"])
        }
    }
}

extension RedirectParameters {
    /// The fields of a form, which is encoded like a query.
    fileprivate static func form(_ body: [UInt8]) -> RedirectParameters {
        RedirectParameters(redirectURL: "x:/?\(String(decoding: body, as: UTF8.self))")
    }
}
