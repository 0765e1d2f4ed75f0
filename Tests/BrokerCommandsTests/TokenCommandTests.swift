import BrokerCommandLine
import BrokerCommands
import BrokerTestSupport
import Foundation
import Testing

@Suite("brokerctl token")
struct TokenCommandTests {
    private static let request = ["token", "--app", "mail", "--scope", "email"]

    @Test("token prints only the token")
    func raw() async throws {
        let broker = try broker(["token.acquireSilent": ScriptedAnswers.token("AT-1")])
        let result = try await brokerctl(Self.request, at: broker.path)
        #expect(result.output == "AT-1\n")
        #expect(result.errors.isEmpty)
        #expect(result.status == .exited(0))
    }

    @Test(
        "the request does not depend on the position and spelling of options",
        arguments: [
            ["token", "--app", "mail"], ["token", "--scope", "email", "profile", "--app", "mail"],
            ["token", "--app", "mail", "--scope", "email", "--account", "ada@example.org", "--format", "header"],
            ["--json", "token", "--app", "mail", "--scope", "email profile"],
            ["token", "--app", "mail", "--scope", "email", "--json", "--format", "raw"],
        ])
    func spellings(_ words: [String]) async throws {
        let asked = Recorder<String>()
        let broker = try ScriptedBroker { peer in
            while let request = peer.request() {
                asked.add("\(request.method) \(request.params)")
                peer.answer(request, ScriptedAnswers.token("AT-1"))
            }
        }
        let before = try await brokerctl(["--socket", broker.path] + words)
        let first = asked.all
        let behind = try await brokerctl(words + ["--socket=\(broker.path)"])
        #expect(before.status == .exited(0) && !before.output.isEmpty, "\(before)")
        #expect((behind.status, behind.output, behind.errors) == (before.status, before.output, before.errors))
        #expect(first + first == asked.all)
    }

    @Test(
        "JSON is the broker's result verbatim, including unknown members",
        arguments: [["--json"], ["--format", "json"]])
    func json(_ options: [String]) async throws {
        let broker = try broker(["token.acquireSilent": ScriptedAnswers.token()])
        let result = try await brokerctl(Self.request + options, at: broker.path)
        #expect(result.output == ScriptedAnswers.token() + "\n")
    }

    @Test("--format header prints an HTTP header")
    func header() async throws {
        let broker = try broker(["token.acquireSilent": ScriptedAnswers.token("AT-1")])
        let result = try await brokerctl(Self.request + ["--format", "header"], at: broker.path)
        #expect(result.output == "Authorization: Bearer AT-1\n")
    }

    @Test(
        "--format env prints shell variables for names with any characters",
        // A combining mark forms one character with the quote, but a shell still sees a quote.
        arguments: [
            "ada'; touch /tmp/x #@example.org", "ada'\u{301}; echo pwned; '\u{301}",
            "ada'\u{200D}; echo pwned; '\u{200D}",
        ])
    func environment(username: String) async throws {
        let token = ScriptedAnswers.token("A'T $(id)", username: username)
        let broker = try broker(["token.acquireSilent": token])
        let result = try await brokerctl(Self.request + ["--format", "env"], at: broker.path)
        #expect(result.status == .exited(0))
        // A real shell reads it and prints the result.
        let script =
            result.output + #"printf '%s\n' "$BROKER_ACCESS_TOKEN" "$BROKER_ACCOUNT" "$BROKER_TOKEN_EXPIRES_ON""#
        let shell = try await withTestBed { bed in try await bed.run(Launch("sh", ["-c", script])) }
        #expect(shell.lines == ["A'T $(id)", username.clean, "1900000000"])
    }

    @Test("--format xoauth2 prints the form for mail servers")
    func xoauth2() async throws {
        let broker = try broker(["token.acquireSilent": ScriptedAnswers.token("AT-1")])
        let result = try await brokerctl(Self.request + ["--format", "xoauth2"], at: broker.path)
        let decoded = try #require(Data(base64Encoded: result.output.trimmingCharacters(in: .newlines)))
        #expect(String(decoding: decoded, as: UTF8.self) == "user=ada@example.org\u{1}auth=Bearer AT-1\u{1}\u{1}")
    }

    @Test("--user names the mailbox for mail servers")
    func xoauth2User() async throws {
        let broker = try broker(["token.acquireSilent": ScriptedAnswers.token("AT-1")])
        let options = ["--format", "xoauth2", "--user", "team@example.org"]
        let result = try await brokerctl(Self.request + options, at: broker.path)
        let decoded = try #require(Data(base64Encoded: result.output.trimmingCharacters(in: .newlines)))
        #expect(String(decoding: decoded, as: UTF8.self) == "user=team@example.org\u{1}auth=Bearer AT-1\u{1}\u{1}")
    }

    @Test(
        "the registration names the mailbox for mail servers unless --user does",
        arguments: [nil, "other@example.org"])
    func xoauth2Registered(user: String?) async throws {
        let app =
            #"{"name":"mail","clientId":"c","authority":"https://idp","scopes":[],"executables":[],"units":[],"#
            + #""sandboxIds":[],"confidential":false,"mailbox":"team@example.org"}"#
        let broker = try broker([
            "token.acquireSilent": ScriptedAnswers.token("AT-1"), "apps.list": #"{"apps":[\#(app)]}"#,
        ])
        let options = ["--format", "xoauth2"] + (user.map { ["--user", $0] } ?? [])
        let result = try await brokerctl(Self.request + options, at: broker.path)
        let decoded = try #require(Data(base64Encoded: result.output.trimmingCharacters(in: .newlines)))
        let mailbox = user ?? "team@example.org"
        #expect(String(decoding: decoded, as: UTF8.self) == "user=\(mailbox)\u{1}auth=Bearer AT-1\u{1}\u{1}")
    }

    @Test("a username that is only the subject is refused for mail servers with a hint")
    func xoauth2Subject() async throws {
        let token = ScriptedAnswers.token("AT-1", username: "248289761001", subject: "248289761001")
        let broker = try broker(["token.acquireSilent": token])
        let result = try await brokerctl(Self.request + ["--format", "xoauth2"], at: broker.path)
        #expect(result.status == .exited(1))
        #expect(result.errors.contains("--user"))
    }

    @Test("a username that would add parts of its own is refused for mail servers")
    func xoauth2Injection() async throws {
        let token = ScriptedAnswers.token("AT-1", username: #"ada\u0001auth=Bearer other"#)
        let broker = try broker(["token.acquireSilent": token])
        let result = try await brokerctl(Self.request + ["--format", "xoauth2"], at: broker.path)
        #expect(result.status == .exited(1))
        #expect(result.output.isEmpty)
    }

    @Test("a token that would add a header of its own is not printed", arguments: ["raw", "header", "env", "xoauth2"])
    func tokenInjection(_ format: String) async throws {
        let broker = try broker(["token.acquireSilent": ScriptedAnswers.token(#"AT\r\nX-Evil: 1"#)])
        let result = try await brokerctl(Self.request + ["--format", format], at: broker.path)
        #expect(result.status == .exited(1))
        #expect(result.output.isEmpty)
        #expect(!result.errors.contains("X-Evil"))
    }

    @Test("--show prints account and scopes but never the token", arguments: [[], ["--json"]])
    func show(_ options: [String]) async throws {
        let broker = try broker(["token.acquireSilent": ScriptedAnswers.token("AT-1")])
        let result = try await brokerctl(Self.request + ["--show"] + options, at: broker.path)
        #expect(result.status == .exited(0) && result.errors.isEmpty, "\(result)")
        for word in ["ada@example.org", "email", "openid", "Bearer"] { #expect(result.output.contains(word)) }
        for secret in ["AT-1", "ID-1"] { #expect(!result.output.contains(secret), "\(result)") }
        let both = try await brokerctl(Self.request + ["--show", "--format", "raw"], at: broker.path)
        #expect(both.status == .exited(2))
    }

    @Test("every option is sent in the request")
    func request() async throws {
        let log = Recorder<String>()
        let broker = try ScriptedBroker { peer in
            while let request = peer.request() {
                log.add("\(request.method) \(request.params)")
                peer.answer(request, ScriptedAnswers.token())
            }
        }
        let arguments = [
            "token", "--client-id", "c", "--authority", "https://idp", "--scope", "a", "b", "--scope", "c d",
            "--account", "ada@example.org", "--min-lifetime", "600", "--force-refresh",
        ]
        #expect(try await brokerctl(arguments, at: broker.path).status == .exited(0))
        let expected =
            #"token.acquireSilent {"account":{"username":"ada@example.org"},"authority":"https:\/\/idp","clientId":"c","#
            + #""forceRefresh":true,"minimumLifetime":600,"scopes":["a","b","c","d"]}"#
        #expect(log.all == [expected])
    }

    @Test("without --scope, the broker is asked once, and takes the app's registered scopes")
    func registeredScopes() async throws {
        let log = Recorder<String>()
        let broker = try ScriptedBroker { peer in
            while let request = peer.request() {
                log.add("\(request.method) \(request.params)")
                peer.answer(request, ScriptedAnswers.token())
            }
        }
        #expect(try await brokerctl(["token", "--app", "mail"], at: broker.path).output == "AT-1\n")
        #expect(log.all == [#"token.acquireSilent {"app":"mail","scopes":[]}"#])
    }

    @Test(
        "an account is found by username or id",
        arguments: [
            ("ada", ["username", "id"]), ("0123456789abcdef0123456789abcdef", ["id", "username"]),
        ])
    func account(_ name: String, _ order: [String]) async throws {
        let log = Recorder<String>()
        let broker = try ScriptedBroker { peer in
            while let request = peer.request() {
                log.add(request.params)
                if log.all.count == 1 {
                    peer.fail(request, "accountNotFound")
                } else {
                    peer.answer(request, ScriptedAnswers.token())
                }
            }
        }
        #expect(try await brokerctl(Self.request + ["--account", name], at: broker.path).output == "AT-1\n")
        #expect(log.all == order.map { #"{"account":{"\#($0)":"\#(name)"},"app":"mail","scopes":["email"]}"# })
    }

    @Test("the error for several matching accounts lists them")
    func ambiguous() async throws {
        let broker = try ScriptedBroker { peer in
            while let request = peer.request() {
                let accounts = [
                    ScriptedAnswers.account(id: "acc-1"),
                    ScriptedAnswers.account(id: "acc-2", username: #"eve\u001b[31m"#),
                ]
                peer.fail(
                    request, "ambiguousAccount", message: "Several accounts fit.",
                    more: #","accounts":[\#(accounts.joined(separator: ","))]"#)
            }
        }
        let result = try await brokerctl(Self.request, at: broker.path)
        #expect(result.status == .exited(4))
        #expect(
            result.errors.hasPrefix(
                "brokerctl: Several accounts fit. Name it with --account, or choose one for good: brokerctl accounts default.\n"
            ))
        #expect(result.errors.contains("  ada@example.org at idp.example.org, id acc-1\n"))
        #expect(result.errors.contains("  eve[31m at idp.example.org, id acc-2\n"))
    }

    @Test("the error for a required sign-in contains its command")
    func hint() async throws {
        let broker = try ScriptedBroker { peer in
            while let request = peer.request() {
                peer.fail(request, "interactionRequired", message: "Nobody is signed in.")
            }
        }
        let result = try await brokerctl(["token", "--app", "my app", "--scope", "email"], at: broker.path)
        #expect(
            result.errors
                == "brokerctl: Nobody is signed in. To sign in: brokerctl login --app 'my app' --scope email\n")
    }

    @Test("the sign-in command contains the challenge's claims, the account and all options")
    func hintOfAll() async throws {
        let broker = try ScriptedBroker { peer in
            while let request = peer.request() {
                peer.fail(
                    request, "interactionRequired", message: "More is wanted.",
                    more: #","claims":"{\"a\":1}","accounts":[\#(ScriptedAnswers.account())]"#)
            }
        }
        let result = try await brokerctl(
            [
                "token", "--client-id", "c", "--authority", "https://idp", "--scope", "a b", "--account", "ada",
                "--resource", "urn:b", "--token-type", "dpop",
            ], at: broker.path)
        #expect(result.status == .exited(4))
        #expect(
            result.errors.hasPrefix(
                "brokerctl: More is wanted. To sign in: brokerctl login --client-id c --authority https://idp "
                    + "--scope 'a b' --account ada@example.org --resource urn:b --token-type DPoP --claims '{\"a\":1}'\n"
            ))
    }

    @Test("token type and correlation id are sent as given")
    func typeAndID() async throws {
        let log = Recorder<String>()
        let broker = try ScriptedBroker { peer in
            while let request = peer.request() {
                log.add(request.params)
                peer.answer(request, ScriptedAnswers.token())
            }
        }
        let options = ["--token-type", "dpop", "--correlation-id", "c-1"]
        #expect(try await brokerctl(Self.request + options, at: broker.path).status == .exited(0))
        #expect(log.all == [#"{"app":"mail","correlationId":"c-1","scopes":["email"],"tokenType":"DPoP"}"#])
        #expect(try await brokerctl(Self.request + ["--token-type", "mac"], at: broker.path).status == .exited(2))
    }

    @Test("a proof for one of several fitting accounts is refused with the option that names one")
    func proofOfSeveral() async throws {
        let broker = try ScriptedBroker { peer in
            while let request = peer.request() { peer.fail(request, "ambiguousAccount", message: "Several fit.") }
        }
        let result = try await brokerctl(["proof", "--app", "mail", "https://api/x"], at: broker.path)
        #expect(result.status == .exited(4))
        #expect(result.errors.hasPrefix("brokerctl: Several fit. Name it with --account."), "\(result)")
    }

    @Test("proof prints only the proof for the given method, URL and nonce")
    func proof() async throws {
        let log = Recorder<String>()
        let broker = try ScriptedBroker { peer in
            while let request = peer.request() {
                log.add(request.params)
                peer.answer(
                    request,
                    request.method == "accounts.get"
                        ? #"{"account":\#(ScriptedAnswers.account())}"# : #"{"proof":"p.r.f","keyThumbprint":"k"}"#)
            }
        }
        let result = try await brokerctl(
            ["proof", "--app", "mail", "https://api/x", "--method", "POST", "--nonce", "n", "--account", "ada"],
            at: broker.path)
        #expect(result.output == "p.r.f\n")
        #expect(
            log.all == [
                #"{"account":{"username":"ada"},"app":"mail"}"#,
                #"{"account":{"id":"acc-1"},"app":"mail","httpMethod":"POST","nonce":"n","url":"https:\/\/api\/x"}"#,
            ])
        #expect(try await brokerctl(["proof", "https://api/x"], at: broker.path).status == .exited(2))
    }

    @Test("with standard output closed, no token is written, especially not to the socket")
    func closedOutput() async throws {
        let log = Recorder<String>()
        let broker = try ScriptedBroker { peer in
            guard let request = peer.request() else { return }
            peer.answer(request, ScriptedAnswers.token())
            log.add(peer.rest())
        }
        let program = try PackageTree.program("brokerctl")
        let result = try await withTestBed { bed in
            try await bed.run(
                Launch("sh", ["-c", #""$0" --socket "$1" token --app mail --scope email >&-"#, program, broker.path]))
        }
        #expect(result.status == .exited(1))
        #expect(result.errors == "brokerctl: Standard output could not be written: Bad file descriptor.\n")
        try await eventually("the client has left") { log.all == [""] }
    }

    @Test("a token lost to a full disk is a failure")
    func fullDisk() async throws {
        let broker = try broker(["token.acquireSilent": ScriptedAnswers.token()])
        let program = try PackageTree.program("brokerctl")
        let result = try await withTestBed { bed in
            try await bed.run(
                Launch(
                    "sh",
                    ["-c", #""$0" --socket "$1" token --app mail --scope email >/dev/full"#, program, broker.path]))
        }
        #expect(result.status == .exited(1))
        #expect(result.errors == "brokerctl: Standard output could not be written: No space left on device.\n")
    }
}
