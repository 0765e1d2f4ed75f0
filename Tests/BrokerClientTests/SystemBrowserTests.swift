import BrokerClient
import Foundation
import Glibc
import Testing

@Suite("Starting the person's browser")
struct SystemBrowserTests {
    private static let url = "https://idp.example.org/authorize?a=1&b=%20x(id);'"

    /// A directory with a shell script that writes its arguments, one a line, and then runs the test's command.
    private struct Bench {
        let directory: String
        var arguments: String { directory + "/arguments" }

        init() throws {
            directory = NSTemporaryDirectory() + "browser-\(UUID().uuidString)"
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        }

        /// Run as an argument of `sh`: a new file cannot always be executed itself, as long as
        /// other tests start processes, too (ETXTBSY).
        func program(_ name: String, then ending: String = "exit 0") throws -> String {
            let path = "\(directory)/\(name)"
            let script = """
                for argument in "$0" "$@"; do printf '%s\\n' "$argument"; done > '\(arguments).new'
                mv '\(arguments).new' '\(arguments)'
                \(ending)
                """
            try Data(script.utf8).write(to: URL(filePath: path))
            return "/bin/sh '\(path)'"
        }

        func seen() throws -> [String] {
            try String(contentsOfFile: arguments, encoding: .utf8).split(separator: "\n").map(String.init)
        }

        func remove() { try? FileManager.default.removeItem(atPath: directory) }
    }

    private func open(_ variable: String, url: String = Self.url, patience: Duration = .seconds(60)) async throws {
        try await SystemBrowser(variable: variable, patience: patience).open(SignInPage(url: url))
    }

    @Test("the URL is the last argument and is not parsed by a shell")
    func appended() async throws {
        let bench = try Bench()
        defer { bench.remove() }
        let program = try bench.program("web")
        try await open("\(program) --new-window")
        #expect(try bench.seen() == ["\(bench.directory)/web", "--new-window", Self.url])
    }

    @Test("no file or port that the application has open stays open in the browser")
    func descriptors() async throws {
        let bench = try Bench()
        defer { bench.remove() }
        let (kept, seen) = (bench.directory + "/kept", bench.directory + "/descriptors")
        let descriptor = Glibc.open(kept, O_CREAT | O_RDWR, 0o600)
        defer { close(descriptor) }
        try await open(try bench.program("web", then: "readlink /proc/$$/fd/* > '\(seen)'; exit 0"))
        let links = try String(contentsOfFile: seen, encoding: .utf8)
        #expect(!links.isEmpty && !links.contains(kept))
    }

    @Test("%s is replaced by the URL, %% by a percent sign, and quotes keep spaces")
    func placeholder() async throws {
        let bench = try Bench()
        defer { bench.remove() }
        let program = try bench.program("my web")
        try await open(#"\#(program) --app=%s "100%% a b" c\ d"#)
        #expect(try bench.seen() == ["\(bench.directory)/my web", "--app=\(Self.url)", "100% a b", "c d"])
    }

    @Test("commands that are missing, broken or fail are skipped")
    func nextOne() async throws {
        let bench = try Bench()
        defer { bench.remove() }
        let failing = try bench.program("failing", then: "exit 3")
        let good = try bench.program("good")
        try await open("/nonexistent/browser:'open quote:\(failing)::\(good)")
        #expect(try bench.seen() == ["\(bench.directory)/good", Self.url])
    }

    @Test("a browser that keeps running counts as success")
    func keepsRunning() async throws {
        let bench = try Bench()
        defer { bench.remove() }
        let program = try bench.program("slow", then: "exec sleep 1")
        try await open(program, patience: .milliseconds(300))
    }

    @Test("a browser's output does not appear in the app's, and it reads none of the app's input")
    func output() async throws {
        let bench = try Bench()
        defer { bench.remove() }
        let streams = "/proc/$$/fd/0 /proc/$$/fd/1 /proc/$$/fd/2"
        try await open(
            try bench.program(
                "chatty", then: "links=$(readlink \(streams)); echo \"$links\" > '\(bench.directory)/streams'"))
        let targets = try String(contentsOfFile: "\(bench.directory)/streams", encoding: .utf8)
        #expect(targets == "/dev/null\n/dev/null\n/dev/null\n")
    }

    @Test(
        "only ordinary web URLs are passed to a program",
        arguments: [
            "file:///etc/passwd", "--version", "javascript:alert(1)", "https://a b", "https://a\nb", "https://a'b",
            "https://a\"b", "",
        ])
    func notForBrowsers(_ url: String) async throws {
        let bench = try Bench()
        defer { bench.remove() }
        let program = try bench.program("web")
        await #expect(throws: BrokerClientError.self) { try await open(program, url: url) }
        #expect(!FileManager.default.fileExists(atPath: bench.arguments))
    }
}
