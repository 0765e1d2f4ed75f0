import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

@Suite("A person is asked in the browser")
struct ConsentInBrowserTests {
    /// A broker whose browser writes down what it shall open, and a sandboxed program that waits.
    private func ask(
        _ scene: DevelopmentScene, _ file: String, app: String = "notes"
    ) async throws -> (program: ManagedProcess, url: String) {
        let line =
            #"{"jsonrpc":"2.0","id":1,"method":"token.acquireSilent","params":{"app":"\#(app)","scopes":["notes.read"],"waitForGrant":120}}"#
        let program = try scene.bed.start(SandboxGrantTests.launch(scene.broker, line, answers: 2), as: "sandboxed")
        try await program.waitForText("interaction.grant")
        try await eventually("the browser is started") { FileManager.default.fileExists(atPath: file) }
        return (program, try String(contentsOfFile: file, encoding: .utf8))
    }

    private func scene(in bed: TestBed, _ file: String, _ more: String = "") async throws -> DevelopmentScene {
        let scene = try await DevelopmentScene.make(
            in: bed,
            options: {
                $0.configuration = """
                    [browser]
                    command = ["/bin/sh", "-c", 'printf %s "$1" > \(file).new && mv \(file).new \(file)', "sh", "%u"]
                    \(more)
                    """
            })
        try await scene.signIn()
        return scene
    }

    private func curl(_ bed: TestBed, _ arguments: String...) async throws -> String {
        try await bed.run(
            Launch("curl", ["--silent", "--noproxy", "*", "--max-time", "\(Int(usualPatience))"] + arguments)
        ).output
    }

    @Test("the address goes to the browser alone; what the person allows there, the program has at once")
    func allowed() async throws {
        try await withTestBed { bed in
            let file = bed.path("url")
            let scene = try await scene(in: bed, file)
            let (program, url) = try await ask(scene, file)
            #expect(!program.outputText.contains(url))
            let page = try await curl(bed, url)
            #expect(page.contains("notes") && page.contains("notes.read") && page.contains("in a sandbox"))
            let token = String(page.firstMatch(of: /name="token" value="([^"]+)"/)?.1 ?? "")
            let origin = url.split(separator: "/").prefix(2).joined(separator: "//")
            let fields = "token=\(token)&answer=allow&for=today"
            #expect(try await curl(bed, "--data", fields, url).contains("Forbidden"))
            #expect(try await curl(bed, "--data", fields, "--header", "Origin: \(origin)", url).contains("Allowed"))
            try await program.waitForText("accessToken")
            let grants = try await scene.broker.call("grants.list")[path: "grants"].arrayValue ?? []
            #expect(grants.count == 1 && grants.first?["scopes"] == ["notes.read"])
        }
    }

    @Test("what the person denies there, the program is told at once")
    func denied() async throws {
        try await withTestBed { bed in
            let file = bed.path("url")
            let scene = try await scene(in: bed, file)
            let (program, url) = try await ask(scene, file)
            let token = String(try await curl(bed, url).firstMatch(of: /name="token" value="([^"]+)"/)?.1 ?? "")
            let origin = url.split(separator: "/").prefix(2).joined(separator: "//")
            _ = try await curl(bed, "--data", "token=\(token)&answer=deny", "--header", "Origin: \(origin)", url)
            try await program.waitForText("grantDenied")
        }
    }

    @Test("who asks for more while the page is open is asked about on the next page, once this one is over")
    func more() async throws {
        try await withTestBed { bed in
            let file = bed.path("url")
            let scene = try await scene(in: bed, file)
            let (_, first) = try await ask(scene, file)
            let line =
                #"{"jsonrpc":"2.0","id":1,"method":"token.acquireSilent","params":{"app":"notes","scopes":["notes.write"],"waitForGrant":120}}"#
            let second = try scene.bed.start(SandboxGrantTests.launch(scene.broker, line, answers: 2), as: "second")
            try await second.waitForText("interaction.grant")
            try await eventually("another page is opened") {
                (try? String(contentsOfFile: file, encoding: .utf8)).map { $0 != first } ?? false
            }
            let page = try await curl(bed, try String(contentsOfFile: file, encoding: .utf8))
            #expect(page.contains("notes.read") && page.contains("notes.write"))
        }
    }

    /// Every program of the person's can read the page's address in the browser's arguments.
    @Test(
        "where administration needs a proof, an answer on the page alone allows nothing, and no page asks about programs outside",
        arguments: ["presence", "setgid"])
    func proof(_ proof: String) async throws {
        try await withTestBed { bed in
            let file = bed.path("url")
            var scene = try await scene(in: bed, file)
            let configuration = """
                admin.proof = "\(proof)"
                access.unknown = "ask"
                access.system_installed = "ask"
                [browser]
                command = ["/bin/sh", "-c", 'printf %s "$1" > \(file).new && mv \(file).new \(file)', "sh", "%u"]
                """
            try await scene.restart { $0.configuration = configuration }
            let line =
                #"{"jsonrpc":"2.0","id":1,"method":"token.acquireSilent","params":{"app":"notes","scopes":["notes.read"],"waitForGrant":120}}"#
            let outside = try bed.start(
                Launch("/usr/bin/python3", ["-c", SandboxGrantTests.client, scene.broker.socket, line, "2"]),
                as: "outside")
            try await outside.waitForText("interaction.grant")

            let (program, url) = try await ask(scene, file)
            let page = try await curl(bed, url)
            // The one outside was first; nobody is asked about it.
            #expect(page.contains("in a sandbox") && !page.contains("python3"), "\(page)")
            let token = String(page.firstMatch(of: /name="token" value="([^"]+)"/)?.1 ?? "")
            let origin = url.split(separator: "/").prefix(2).joined(separator: "//")
            let answered = try await curl(
                bed, "--data", "token=\(token)&answer=allow&for=today", "--header", "Origin: \(origin)", url)
            #expect(answered.contains("admin.proof") && !answered.contains("Allowed"), "\(answered)")
            let again = try await bed.run(
                SandboxGrantTests.launch(scene.broker, line.replacing(#","waitForGrant":120"#, with: "")))
            #expect(again.output.contains("grantRequired"), "\(again)")
            #expect(!program.outputText.contains("accessToken"))
        }
    }
}
