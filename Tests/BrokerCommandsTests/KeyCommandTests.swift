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
        "a further source is added and taken back as the broker expects it",
        arguments: [
            (
                ["add-source", "passphrase", "--stdin"],
                #"{"passphrase":"a long sentence","place":"beside","source":"passphrase"}"#,
                "passphrase opens the vault from now on, too.\n"
            ),
            (
                ["remove-source", "passphrase"], #"{"place":"removed","source":"passphrase"}"#,
                "passphrase does not open the vault any more.\n"
            ),
        ])
    func added(arguments: [String], params: String, words: String) async throws {
        let log = Recorder<String>()
        let broker = try ScriptedBroker { peer in
            while let request = peer.request() {
                if request.method == "keys.setSource" { log.add(request.params) }
                peer.answer(request, Self.state("credential", added: Self.recovery))
            }
        }
        let result = try await brokerctl(["key"] + arguments, at: broker.path, input: "a long sentence\n")
        #expect(result.output == words, "\(result)")
        #expect(log.all == [params])
    }

    /// Asks before each answer what it may, as pinentry 1.3 does on a terminal, and waits for it.
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

    @Test("a pinentry that asks how good a passphrase is has an answer: no number, and nothing is made up for it")
    func inquiries() async throws {
        let log = Recorder<String>()
        let broker = try ScriptedBroker { peer in
            while let request = peer.request() {
                if request.method == "keys.setSource" { log.add(request.params) }
                peer.answer(request, Self.state("passphrase"))
            }
        }
        try await withTestBed { bed in
            let program = bed.path("pinentry")
            try Self.inquiring.write(toFile: program, atomically: true, encoding: .utf8)
            try await bed.require("chmod", ["755", program])
            let words = ["key", "set-source", "passphrase", "--pinentry", program]
            let result = try await brokerctl(words, at: broker.path)
            #expect(result.succeeded, "\(result)")
            #expect(log.all == [#"{"passphrase":"a long sentence","source":"passphrase"}"#])
            #expect(try String(contentsOfFile: program + ".heard", encoding: .utf8) == "CAN\nD -1\nEND\n")
        }
    }

    @Test("a credential is said to open on this machine only, until something else opens the vault as well")
    func credential() async throws {
        for (added, isSaid) in [("", true), (Self.recovery, false)] {
            let state = Self.state("credential", added: added)
            let broker = try broker(["keys.setSource": state, "keys.status": state])
            let made = try await brokerctl(["key", "set-source", "credential"], at: broker.path)
            #expect(made.output.contains("opens on no other one") == isSaid, "\(made)")
            // Another key ends what was added.
            #expect(made.output.contains("passphrase opens it no longer; add it again") != isSaid, "\(made)")
            let shown = try await brokerctl(["key", "status"], at: broker.path)
            #expect(shown.output.contains("Also opened by  passphrase") != isSaid, "\(shown)")
        }
        var key = KeyState()
        (key.source, key.available) = ("credential", ["credential"])
        #expect(DoctorChecks.key(key).verdict == .note)
        key.added = ["passphrase"]
        #expect(DoctorChecks.key(key).verdict == .good)
    }

    @Test("where the usual key is missing, unlock asks for the recovery passphrase")
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
        // There is nobody to be asked.
        let result = try await brokerctl(["unlock"], at: broker.path)
        #expect(result.errors.contains("no terminal to ask for the passphrase"), "\(result)")
    }
}
