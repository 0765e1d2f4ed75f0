import BrokerCommands
import BrokerRPC
import BrokerTestSupport
import Foundation
import Testing

@Suite("brokerctl key")
struct KeyCommandTests {
    private static func state(_ source: String, added: String = "") -> String {
        #"{"source":"\#(source)",\#(added)"available":["key-file","passphrase"],"resealing":false}"#
    }

    private static let recovery = #""added":["passphrase"],"#

    @Test(
        "add-source and remove-source send what the broker expects",
        arguments: [
            (
                ["add-source", "passphrase", "--stdin"],
                #"{"passphrase":"a long sentence","place":"beside","source":"passphrase"}"#,
                "passphrase now opens the vault, too.\n"
            ),
            (
                ["remove-source", "passphrase"], #"{"place":"removed","source":"passphrase"}"#,
                "passphrase no longer opens the vault.\n"
            ),
        ])
    func added(arguments: [String], params: String, words: String) async throws {
        let broker = try ScriptedBroker.answering { _ in Self.state("credential", added: Self.recovery) }
        let result = try await brokerctl(["key"] + arguments, at: broker.path, input: "a long sentence\n")
        #expect(result.output == words, "\(result)")
        #expect(broker.requests.filter { $0.method == "keys.setSource" }.map(\.params) == [params])
    }

    /// Sends inquiries before each answer, as pinentry 1.3 does on a terminal, and waits for replies.
    private static let inquiring = #"""
        #!/bin/sh
        echo OK
        while read -r line; do
            if [ "$line" = GETPIN ]; then
                for what in GENPIN 'QUALITY a%20l'; do
                    echo "INQUIRE $what"
                    while read -r reply && echo "$reply" >> "$0.heard" && [ "$reply" != END ] && [ "$reply" != CAN ]; do :; done
                done
                printf 'S PIN_REPEATED\nD a%%20long%%20sentence\n'
            fi
            echo OK
        done
        """#

    @Test("a pinentry that asks for the passphrase's quality gets a reply without a rating")
    func inquiries() async throws {
        let broker = try ScriptedBroker.answering { _ in Self.state("passphrase") }
        try await withTestBed { bed in
            let program = bed.path("pinentry")
            try Self.inquiring.write(toFile: program, atomically: true, encoding: .utf8)
            try await bed.require("chmod", ["755", program])
            let words = ["key", "set-source", "passphrase", "--pinentry", program]
            let result = try await brokerctl(words, at: broker.path)
            #expect(result.succeeded, "\(result)")
            let changes = broker.requests.filter { $0.method == "keys.setSource" }
            #expect(changes.map(\.params) == [#"{"passphrase":"a long sentence","source":"passphrase"}"#])
            #expect(try String(contentsOfFile: program + ".heard", encoding: .utf8) == "CAN\nD -1\nEND\n")
        }
    }

    /// Knows of no repetition.
    private static let plain = #"""
        #!/bin/sh
        echo OK
        while read -r line; do
            case $line in
            GETPIN) echo GETPIN >> "$0.heard"; echo "D short" ;;
            SETREPEAT*) echo "ERR 536871187 Unknown"; continue ;;
            esac
            echo OK
        done
        """#

    @Test(
        "a short passphrase is refused before pinentry asks for it again, in every command that sets one",
        arguments: [
            ["key", "set-source", "passphrase"], ["key", "add-source", "passphrase"], ["cache", "export", "F"],
        ])
    func short(words: [String]) async throws {
        let broker = try broker([
            "keys.status": Self.state("key-file"), "broker.status": ScriptedAnswers.status,
            "cache.stats": ScriptedAnswers.statistics,
        ])
        try await withTestBed { bed in
            let program = bed.path("pinentry")
            try Self.plain.write(toFile: program, atomically: true, encoding: .utf8)
            try await bed.require("chmod", ["755", program])
            let words = words.map { $0 == "F" ? bed.path("backup") : $0 }
            let result = try await brokerctl(words + ["--pinentry", program], at: broker.path)
            #expect(result.status == .exited(1))
            #expect(result.errors.contains("A passphrase has at least 8 characters; nothing was changed."), "\(result)")
            #expect(try String(contentsOfFile: program + ".heard", encoding: .utf8) == "GETPIN\n")
        }
    }

    @Test("a credential gives a warning that it works only here, until a second source is added")
    func credential() async throws {
        for (added, isSaid) in [("", true), (Self.recovery, false)] {
            let state = Self.state("credential", added: added)
            let broker = try broker(["keys.setSource": state, "keys.status": state])
            let made = try await brokerctl(["key", "set-source", "credential"], at: broker.path)
            #expect(made.output.contains("does not work on another") == isSaid, "\(made)")
            // Another key removes the added sources.
            #expect(made.output.contains("passphrase no longer opens it; add it again") != isSaid, "\(made)")
            let shown = try await brokerctl(["key", "status"], at: broker.path)
            #expect(shown.output.contains("Also opened by  passphrase") != isSaid, "\(shown)")
        }
        var key = KeyState()
        (key.source, key.available) = ("credential", ["credential"])
        #expect(DoctorChecks.key(key).verdict == .note)
        key.added = ["passphrase"]
        #expect(DoctorChecks.key(key).verdict == .good)
    }

    @Test("unlock asks for the recovery passphrase if the usual key is missing")
    func unlock() async throws {
        let status = ScriptedAnswers.status.replacing(#""locked":false"#, with: #""locked":true"#)
        let broker = try ScriptedBroker { peer in
            while let request = peer.request() {
                switch request.method {
                case "broker.status": peer.answer(request, status)
                case "keys.status": peer.answer(request, Self.state("credential", added: Self.recovery))
                default: peer.fail(request, "locked", message: "The key is not here.")
                }
            }
        }
        // There is no terminal to ask on.
        let result = try await brokerctl(["unlock"], at: broker.path)
        #expect(result.errors.contains("no terminal to ask for the passphrase"), "\(result)")
    }
}
