import BrokerConfig
import BrokerTestSupport
import Foundation
import Testing

@Suite("Apps registered by files")
struct AppFilesTests {
    private static let mail = """
        # the company's
        [mail]
        client_id = "native"
        authority = "https://login.example.org"
        group = "office"
        scopes = ["mail.read", "mail.send"]
        allowed_scopes = ["mail.read", "mail.send", "mail.delete"]
        executables = ["/usr/bin/mail"]
        sandbox_ids = ["org.example.Mail"]
        resources = ["https://api.example"]
        mailbox = "team@example.org"
        bind_refresh_token = true
        offline_access = false
        query = { access_type = "offline" }

        [calendar]
        client_id = "native"
        authority = "https://login.example.org"
        """

    /// - Parameter files: keyed by path below the folder of `config.toml`.
    private func load(_ files: [String: String]) async throws -> AppFiles {
        try await withTestBed { bed in
            for (path, text) in files.merging(["config.toml": ""], uniquingKeysWith: { $1 }) {
                let url = URL(filePath: bed.path(path))
                try FileManager.default.createDirectory(
                    at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data(text.utf8).write(to: url)
            }
            return try ConfigurationLoader(files: .only(bed.path("config.toml"))).load().configuration.apps
        }
    }

    @Test("each table becomes an app that records its file and line")
    func apps() async throws {
        let apps = try await load(["apps.d/office.toml": Self.mail])
        #expect(apps.mistakes.isEmpty)
        #expect(apps.entries.map(\.description.name) == ["calendar", "mail"])
        let mail = try #require(apps.entries.last)
        #expect(mail.origin.hasSuffix("/apps.d/office.toml:3"))
        #expect(mail.description.clientID == "native")
        #expect(mail.description.scopes == ["mail.read", "mail.send"])
        #expect(mail.description.allowedScopes == ["mail.read", "mail.send", "mail.delete"])
        #expect(apps.entries.first?.description.allowedScopes == nil)
        #expect(mail.description.executables == ["/usr/bin/mail"])
        #expect(mail.description.sandboxIDs == ["org.example.Mail"])
        #expect(mail.authority == "https://login.example.org")
        #expect(mail.description.resources == ["https://api.example"])
        #expect(mail.description.mailbox == "team@example.org")
        #expect(mail.description.bindRefreshToken == true)
        #expect(mail.description.offlineAccess == false)
        #expect(apps.entries.first?.description.offlineAccess == nil)
        #expect(mail.description.query == ["access_type": "offline"])
    }

    @Test(
        "a file with a mistake is ignored and reported with the place, and the others count",
        arguments: [
            ("[game]\nquery = { a = 3 }\n", ":2: query: a expects a string"),
            ("[game]\nquery = \"x\"\n", ":2: query: expects a table of strings, not a string"),
            ("[game]\nbind_refresh_token = \"yes\"\n", ":2: bind_refresh_token: expects a boolean, not a string"),
            ("[game]\nclient_id = 3\n", ":2: client_id: expects a string, not an integer"),
            ("[game]\nclientid = \"x\"\n", ":2: there is no key clientid of an app; did you mean client_id?"),
            ("[game]\nclient_id = \"x\"\n", "the app game needs a client_id and an authority"),
            ("client_id = \"x\"\n", ":1: an app is a table"), ("[game\n", ":1: not valid TOML"),
            ("[game]\nscopes = \"x\"\n", ":2: scopes: expects an array of strings, not a string"),
        ])
    func mistake(text: String, sentence: String) async throws {
        let apps = try await load(["apps.d/game.toml": text, "apps.d/office.toml": Self.mail])
        #expect(apps.entries.map(\.description.name) == ["calendar", "mail"])
        #expect(apps.mistakes.count == 1)
        #expect(apps.mistakes.first?.description.contains(sentence) == true, "\(apps.mistakes)")
    }

    @Test("a file whose name is not UTF-8 is ignored and reported, and the others count")
    func oddName() async throws {
        try await withTestBed { bed in
            let folder = bed.path("apps.d")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try makeFile(named: Array("caf".utf8) + [0xe9] + Array(".toml".utf8), in: folder)
            _ = try file("apps.d/office.toml", Self.mail, in: bed)
            let apps = try ConfigurationLoader(files: .only(file("config.toml", "", in: bed))).load().configuration.apps
            #expect(apps.entries.count == 2)
            #expect(apps.mistakes.map(\.description) == ["\(folder)/caf\u{fffd}.toml: its name is not UTF-8"])
        }
    }

    @Test("an unreadable folder is an error, because its apps may restrict their callers")
    func unreadableFolder() async throws {
        try await withTestBed { bed in
            let folder = bed.path("apps.d")
            #expect(symlink(folder, folder) == 0)
            let path = try file("config.toml", "", in: bed)
            let error = #expect(throws: ConfigurationError.self) { try ConfigurationLoader(files: .only(path)).load() }
            #expect(error?.description == "\(folder): cannot be read: Too many levels of symbolic links")
        }
    }

    @Test("hidden files, files other than *.toml and a missing folder register no apps")
    func otherFiles() async throws {
        #expect(try await load(["apps.d/a.toml.bak": Self.mail, "apps.d/.b.toml": Self.mail]) == AppFiles())
        #expect(try await load([:]) == AppFiles())
    }

    @Test("a user's apps hide the administrator's apps of the same name")
    func precedence() async throws {
        try await withTestBed { bed in
            let folders = ["own", "etc"].map { bed.path($0) }
            for folder in folders {
                try FileManager.default.createDirectory(atPath: folder + "/apps.d", withIntermediateDirectories: true)
                try Self.mail.replacingOccurrences(of: "native", with: URL(filePath: folder).lastPathComponent)
                    .write(toFile: folder + "/apps.d/mail.toml", atomically: true, encoding: .utf8)
            }
            let apps = try ConfigurationLoader(files: .standard(folders.map { $0 + "/config.toml" })).load()
                .configuration.apps
            #expect(apps.entries.map(\.description.clientID) == ["own", "own"])
        }
    }

    @Test("docs/configuration.md contains the table of keys and a valid example")
    func documentation() async throws {
        let page = try PackageTree.text("docs/configuration.md")
        #expect(page.contains(AppFiles.documentation), "Put this table there:\n\(AppFiles.documentation)")
        let example = try #require(page.components(separatedBy: "apps.d/org.example.mail.toml\n").dropFirst().first)
        let text = try #require(example.components(separatedBy: "```").first)
        let apps = try await load(["apps.d/example.toml": text])
        #expect(apps.mistakes.isEmpty && apps.entries.map(\.description.name) == ["mail"])
    }
}
