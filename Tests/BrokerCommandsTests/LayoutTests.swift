import BrokerCommandLine
import BrokerCommands
import BrokerRPC
import BrokerValues
import Testing

@Suite("Layout of text on a terminal")
struct LayoutTests {
    private static func table() -> Table {
        var table = Table("NAME", "AUTHORITY", "ID")
        table.add("notes", "https://id.example.org/realms/one", "0123456789abcdef0123456789abcdef01234567")
        return table
    }

    @Test("a table that is too wide drops URL schemes and shortens all cells but the first")
    func shortened() {
        #expect(
            Self.table().text(in: Layout(columns: 40)) == """
                NAME   AUTHORITY             ID
                notes  id.example.org/real…  0123456789…

                """)
    }

    @Test(
        "apps' providers stay distinguishable at 80 and 50 columns, and each app is a block at 40",
        arguments: [80, 50, 40])
    func apps(columns: Int) throws {
        let text = AppText.table([
            try Self.app("notes", at: "http://127.0.0.1:8460"), try Self.app("wiki", at: "http://127.0.0.1:8461"),
        ]).text(in: Layout(columns: columns))
        #expect(text.contains("127.0.0.1:8460") && text.contains("127.0.0.1:8461"), "\(text)")
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= columns }, "\(text)")
        #expect((text.split(separator: "\n").count == 3) == (columns >= 50), "\(text)")
    }

    private static func app(_ name: String, at authority: String) throws -> App {
        let text = #"""
            {"name":"\#(name)","clientId":"demo-one","authority":"\#(authority)","group":"office","scopes":["notes.read"],
            "executables":[],"units":[],"sandboxIds":[],"confidential":false}
            """#
        return try App(reading: JSONReader.read(text.utf8))
    }

    @Test("a table that would become unreadable turns into a complete block per row")
    func blocks() {
        var table = Self.table()
        table.add("mail", "", "2")
        #expect(
            table.text(in: Layout(columns: 24)) == """
                NAME       notes
                AUTHORITY
                  https://id.example.org/realms/one
                ID
                  0123456789abcdef0123456789abcdef01234567

                NAME  mail
                ID    2

                """)
    }

    @Test("text is neither shortened nor wrapped without a terminal")
    func elsewhere() {
        let text = Self.table().text()
        #expect(text.contains("https://id.example.org/realms/one  0123456789abcdef0123456789abcdef01234567\n"))
        let long = String(repeating: "word ", count: 100)
        #expect(Layout.plain.prose(long) == long)
    }

    @Test("values are next to their names if their words fit, otherwise below")
    func facts() {
        var facts = Facts()
        facts.add("Vault", "locked, and nobody has the passphrase for it")
        facts.add("Socket", "/run/user/1000/brokerd/broker.sock")
        facts.add("Key", "key-file")
        #expect(
            facts.text(in: Layout(columns: 40)) == """
                Vault   locked, and nobody has the
                        passphrase for it
                Socket
                  /run/user/1000/brokerd/broker.sock
                Key     key-file

                """)
    }

    @Test("long lines wrap at spaces with their indentation, and long words stay whole")
    func prose() {
        let layout = Layout(columns: 30)
        #expect(
            layout.prose(
                "short\n  The provider said: nothing that helps.\nOpen https://id.example.org/a/very/long/page now")
                    == """
                    short
                      The provider said: nothing
                      that helps.
                    Open
                    https://id.example.org/a/very/long/page
                    now
                    """)
        #expect(
            layout.prose("09:00:00  mail: a sign-in waits for the person", hanging: 10) == """
                09:00:00  mail: a sign-in
                          waits for the person
                """)
        #expect(layout.prose("Erase everything that there is? [y/N] ") == "Erase everything that there\nis? [y/N] ")
    }

    @Test("a command on several lines is still one to a shell")
    func command() {
        let words = ["brokerctl", "login", "--app", "my notes", "--device-code"]
        #expect(Layout.plain.command(words) == "  brokerctl login --app 'my notes' --device-code")
        #expect(
            Layout(columns: 40).command(words) == """
                  brokerctl login --app 'my notes' \\
                    --device-code
                """)
    }

    @Test("a finding is next to its subject, with the advice below")
    func findings() {
        let findings = [
            CheckResult("Broker", .good, "Version 1 answers."),
            CheckResult("Settings", .bad, "There is a mistake in them.", advice: "brokerctl config edit"),
        ]
        #expect(
            CheckResultsText.text(findings, in: Layout(columns: 36)) == """
                ok    Broker    Version 1 answers.
                BAD   Settings  There is a mistake
                                in them.
                                -> brokerctl config
                                edit

                """)
    }
}
