import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

@Suite("Questions in the browser")
struct ConsentInBrowserTests {
    /// A broker whose browser records its URLs, and a sandboxed program that waits.
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
        try await DevelopmentScene.signedIn(
            in: bed,
            options: {
                $0.configuration = """
                    [browser]
                    command = ["/bin/sh", "-c", 'printf %s "$1" > \(file).new && mv \(file).new \(file)', "sh", "%u"]
                    \(more)
                    """
            })
    }

    private func curl(_ bed: TestBed, _ arguments: String...) async throws -> String {
        try await bed.run(
            Launch("curl", ["--silent", "--noproxy", "*", "--max-time", "\(Int(usualPatience))"] + arguments)
        ).output.replacing("<wbr>", with: "")
    }

    /// A question that a browser has loaded.
    private struct Page {
        var text: String
        /// Its URL, after the one that the browser was started with.
        var url: String
        var cookies: String
        var token: String { String(text.firstMatch(of: /name="token" value="([^"]+)"/)?.1 ?? "") }
        var origin: String { url.split(separator: "/").prefix(2).joined(separator: "//") }
    }

    private func load(_ bed: TestBed, _ url: String) async throws -> Page {
        let cookies = bed.path(bed.unique("cookies"))
        let answer = try await curl(
            bed, "--location", "--cookie-jar", cookies, "--cookie", cookies, "--write-out", "\n%{url_effective}", url)
        let end = try #require(answer.lastIndex(of: "\n"))
        return Page(
            text: String(answer[..<end]), url: String(answer[answer.index(after: end)...]), cookies: cookies)
    }

    private func post(_ bed: TestBed, _ fields: String, on page: Page, origin: String?) async throws -> String {
        let header = origin.map { "Origin: \($0)" } ?? "X-Origin: none"
        return try await curl(
            bed, "--data", "token=\(page.token)&\(fields)", "--header", header, "--cookie", page.cookies, page.url)
    }

    @Test("the URL goes to the browser only, and a program learns at once that the person allowed it")
    func allowed() async throws {
        try await withTestBed { bed in
            let file = bed.path("url")
            let scene = try await scene(in: bed, file)
            let (program, url) = try await ask(scene, file)
            #expect(!program.outputText.contains(url))
            let page = try await load(bed, url)
            for text in ["notes", "notes.read", "in a sandbox", "127.0.0.1", "With every account", "alice"] {
                #expect(page.text.contains(text), "\(text)")
            }
            let fields = "answer=allow&for=today"
            #expect(try await post(bed, fields, on: page, origin: nil).contains("Forbidden"))
            #expect(try await post(bed, fields, on: page, origin: page.origin).contains("Allowed"))
            try await program.waitForText("accessToken")
            let grants = try await scene.broker.call("grants.list")[path: "grants"].arrayValue ?? []
            #expect(grants.count == 1 && grants.first?["scopes"] == ["notes.read"])
        }
    }

    @Test("a program learns at once that the person denied it there")
    func denied() async throws {
        try await withTestBed { bed in
            let file = bed.path("url")
            let scene = try await scene(in: bed, file)
            let (program, url) = try await ask(scene, file)
            let page = try await load(bed, url)
            _ = try await post(bed, "answer=deny", on: page, origin: page.origin)
            try await program.waitForText("grantDenied")
        }
    }

    @Test("a program's second question follows the first, even if that was answered elsewhere")
    func second() async throws {
        try await withTestBed { bed in
            let file = bed.path("url")
            let scene = try await scene(in: bed, file)
            try await scene.register("other", clientID: "demo-two")
            let (program, first) = try await ask(scene, file)
            let page = try await load(bed, first)
            let line =
                #"{"jsonrpc":"2.0","id":1,"method":"token.acquireSilent","params":{"app":"other","scopes":["notes.read"],"waitForGrant":120}}"#
            let second = try bed.start(SandboxGrantTests.launch(scene.broker, line, answers: 2), as: "second")
            try await second.waitForText("interaction.grant")
            let request = try #require(
                try await scene.broker.call("grants.list")[path: "requests"].arrayValue?
                    .first { $0["app"] == "notes" }?["id"].stringValue)
            #expect(try await scene.broker.ctl(["grants", "deny", request]).succeeded)
            try await program.waitForText("grantDenied")
            let next = try await load(bed, try await nextURL(file, after: first))
            #expect(next.text.contains("other") && !next.text.contains("<bdi>notes</bdi>"))
            // The first page is still open and shows the outcome.
            let late = try await post(bed, "answer=allow&for=today", on: page, origin: page.origin)
            #expect(late.contains("answered elsewhere"), "\(late)")
            _ = try await post(bed, "answer=deny", on: next, origin: next.origin)
            try await second.waitForText("grantDenied")
        }
    }

    private func nextURL(_ file: String, after first: String) async throws -> String {
        try await awaited("another page is opened") {
            (try? String(contentsOfFile: file, encoding: .utf8)).flatMap { $0 != first ? $0 : nil }
        }
    }

    @Test("a request for more while the page is open is asked about on the next page, after this one is over")
    func more() async throws {
        try await withTestBed { bed in
            let file = bed.path("url")
            let scene = try await scene(in: bed, file)
            let (_, first) = try await ask(scene, file)
            let earlier = try await load(bed, first)
            let line =
                #"{"jsonrpc":"2.0","id":1,"method":"token.acquireSilent","params":{"app":"notes","scopes":["notes.write"],"waitForGrant":120}}"#
            let second = try scene.bed.start(SandboxGrantTests.launch(scene.broker, line, answers: 2), as: "second")
            try await second.waitForText("interaction.grant")
            let page = try await load(bed, try await nextURL(file, after: first))
            #expect(page.text.contains("notes.read") && page.text.contains("notes.write"))
            // A reader of the first page learns why it no longer counts.
            let late = try await post(bed, "answer=allow&for=today", on: earlier, origin: earlier.origin)
            #expect(late.contains("another page asks for more"), "\(late)")
        }
    }

    /// Every program of the person can read the page's URL in the browser's arguments.
    @Test(
        "with a required proof the page alone allows nothing, and asks about no program outside",
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
            let page = try await load(bed, url)
            // The one outside was first; there is no question about it.
            #expect(page.text.contains("in a sandbox") && !page.text.contains("python3"), "\(page.text)")
            let answered = try await post(bed, "answer=allow&for=today", on: page, origin: page.origin)
            #expect(answered.contains("admin.proof") && !answered.contains("Allowed"), "\(answered)")
            let again = try await bed.run(
                SandboxGrantTests.launch(scene.broker, line.replacing(#","waitForGrant":120"#, with: "")))
            #expect(again.output.contains("grantRequired"), "\(again)")
            #expect(!program.outputText.contains("accessToken"))
        }
    }
}
