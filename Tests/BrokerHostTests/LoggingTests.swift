import BrokerHost
import BrokerTestSupport
import Foundation
import Logging
import Testing

@Suite("Log entries")
struct LoggingTests {
    @Test("on stderr an entry is one line of level, message and fields, with visible line breaks")
    func standardError() async throws {
        try await withTestBed { bed in
            let probe = try bed.probe("log")
            #expect(await probe.exitStatus() == .exited(0))
            #expect(probe.outputText.contains("destination stderr"))
            let lines = probe.errorText.split(separator: "\n").map { $0.drop { $0 != " " }.dropFirst() }
            #expect(
                lines == [
                    "warning first\\u{a}Second: forged app=mail correlationID=\"a b\"",
                    // By scalars: a quote with a combining mark is another character.
                    #"warning said app=mail cause="no\"\#u{301} app=wiki" other="\"\#u{301}" path="a\\\" app=wiki""#,
                    "debug wanted now app=mail",
                ])
        }
    }

    @Test("the journal is chosen only if stderr is the very stream that systemd connected")
    func journalStream() async throws {
        try await withTestBed { bed in
            let errors = bed.path("probe.err")
            try Data().write(to: URL(filePath: errors))
            var status = stat()
            #expect(lstat(errors, &status) == 0)
            let matching = try bed.probe(
                "log", environment: ["JOURNAL_STREAM": "\(status.st_dev):\(status.st_ino)"])
            #expect(await matching.exitStatus() == .exited(0))
            #expect(matching.outputText.contains("destination journal"))
            #expect(matching.errorText.isEmpty)

            let inherited = try bed.probe(
                "log", environment: ["JOURNAL_STREAM": "\(status.st_dev):\(status.st_ino)"])
            #expect(await inherited.exitStatus() == .exited(0))
            #expect(inherited.outputText.contains("destination stderr"))
        }
    }

    @Test("every value is a separate journal field, named in the journal's way")
    func journalFields() {
        let event = LogEvent(
            level: .error, message: "refresh failed", metadata: ["correlationID": "c-1", "http-status": "503"],
            source: "s", file: "f", function: "g", line: 1)
        let entry = LogEntry(label: "oauth", event: event, metadata: ["app": "mail"])
        #expect(
            Journal.fields(of: entry) == [
                "MESSAGE=refresh failed", "PRIORITY=3", "SYSLOG_IDENTIFIER=brokerd", "BROKER_LOGGER=oauth",
                "BROKER_APP=mail", "BROKER_CORRELATION_ID=c-1", "BROKER_HTTP_STATUS=503",
            ])
    }

    @Test(
        "a field's name never leaves the journal's alphabet",
        arguments: [
            ("app", "BROKER_APP"), ("clientID", "BROKER_CLIENT_ID"), ("a.b c", "BROKER_A_B_C"),
            ("x=1\nMESSAGE", "BROKER_X_1_MESSAGE"), ("ünï", "BROKER_N_"),
        ])
    func fieldNames(key: String, name: String) {
        #expect(Journal.fieldName(key) == name)
    }

    @Test("characters that forge an entry or steer a terminal are made visible, and long texts cut")
    func cleaning() {
        #expect(LogEntry.line("a\u{1b}[2Jb\rc") == "a\\u{1b}[2Jb\\u{d}c")
        #expect(LogEntry.line("x\u{202e}y\u{2028}z\u{85}") == "x\\u{202e}y\\u{2028}z\\u{85}")
        #expect(LogEntry.line("Zoë 東京") == "Zoë 東京")
        #expect(LogEntry.line("aaaa", atMost: 3) == "aaa…")
    }
}
