import BrokerTestSupport
import Foundation
import Testing

/// `.ci/swift-test`, with a `swift` that runs no tests and reports scripted results of four.
@Suite("Reports of a test run that does not end well") struct TestRunTests {
    /// The script's functions write the event stream of `swift test`. `chosen` are the names of the tests that the filters select.
    private static let fake = """
        #!/usr/bin/python3
        import json, os, re, signal, sys, time
        if sys.argv[1] != 'test': sys.exit(0)
        lines = {'one': 10, 'two': 20, 'three': 30, 'four': 40}
        ids = {name: f'FakeTests.Suite/{name}()/Fake.swift:{line}:6' for name, line in lines.items()}
        words = sys.argv[2:]
        events = open(words[words.index('--event-stream-output-path') + 1], 'w')
        filters = [words[index + 1] for index, word in enumerate(words) if word == '--filter']
        chosen = [name for name in lines if not filters or any(re.match(filter, ids[name]) for filter in filters)]
        print('chosen: ' + ' '.join(chosen), flush=True)
        def write(kind, payload): print(json.dumps({'version': 0, 'kind': kind, 'payload': payload}), file=events, flush=True)
        def event(kind, name): write('event', {'kind': kind, 'testID': ids[name]})
        def begin(*names): [event('testStarted', name) for name in names]
        def end(*names): [event('testEnded', name) for name in names]
        def die(place):
            print(f'Fatal error\\nThread 3 crashed:\\n0 {place}', flush=True)
            sys.exit(1)
        for name in chosen:
            write('test', {'kind': 'function', 'id': ids[name], 'name': f'{name}()', 'displayName': f'the {name}',
                           'sourceLocation': {'fileID': 'FakeTests/Fake.swift', 'line': lines[name]}})
        def finish():
            begin(*chosen)
            end(*chosen)
            write('event', {'kind': 'runEnded'})

        """

    private func run(
        _ script: String, environment: [String: String] = [:], in bed: TestBed
    ) throws -> (process: ManagedProcess, report: () -> [Substring]) {
        let (swift, report) = (bed.path("swift"), bed.path("report"))
        try (Self.fake + script).write(toFile: swift, atomically: true, encoding: .utf8)
        _ = chmod(swift, 0o755)
        let process = try bed.start(
            Launch(
                PackageTree.root.appending(path: ".ci/swift-test").path, [report],
                environment: environment.merging(["SWIFT": swift]) { $1 }))
        return (process, { ((try? String(contentsOfFile: report, encoding: .utf8)) ?? "").split(separator: "\n") })
    }

    @Test("a run with a result for each test reports nothing")
    func well() async throws {
        try await withTestBed { bed in
            let (process, report) = try run("finish()", in: bed)
            #expect(await process.exitStatus() == .exited(0))
            #expect(report().isEmpty)
        }
    }

    @Test("a test in whose lines a process crashed has failed, and those without a result run again without it")
    func died() async throws {
        try await withTestBed { bed in
            let (process, report) = try run(
                """
                if filters: finish()
                else:
                    begin('one', 'two', 'three')
                    end('one')
                    die('in two() at /anywhere/Fake.swift:27:5')
                """, in: bed)
            #expect(await process.exitStatus() == .exited(1))
            #expect(
                report() == [
                    "Ended the process: “the two” (FakeTests.Suite/two())",
                    "Had no result, and run again in a new process: 2 tests",
                ])
            #expect(process.outputText.contains("chosen: three four\n"), "\(process.logTail)")
        }
    }

    @Test("if the crashed test is unknown, each half of the running ones runs again")
    func unknown() async throws {
        try await withTestBed { bed in
            let (process, report) = try run(
                """
                if chosen == ['three']:
                    begin('three')
                    die('in nowhere')
                elif filters: finish()
                else:
                    begin('two', 'three')
                    die('in somewhere at /anywhere/Elsewhere.swift:27:5')
                """, in: bed)
            #expect(await process.exitStatus() == .exited(1))
            #expect(
                report() == [
                    "The process died, and which of 2 tests did it is unknown: each half of them runs again.",
                    "Had no result, and run again in a new process: 2 tests",
                    "Ended the process: “the three” (FakeTests.Suite/three())",
                ])
            for names in ["two", "three", "one four"] {
                #expect(process.outputText.contains("chosen: \(names)\n"), "\(process.logTail)")
            }
        }
    }

    @Test("a run that hangs is ended, the unfinished tests are named, and the others run")
    func hangs() async throws {
        try await withTestBed { bed in
            let (process, report) = try run(
                """
                begin('one', 'two')
                end('one')
                print('hanging', flush=True)
                time.sleep(100000)
                """, in: bed)
            try await process.waitForText("hanging")
            process.send(SIGINT)
            #expect(await process.exitStatus() == .exited(1))
            #expect(report() == ["Had not ended when it was interrupted: “the two” (FakeTests.Suite/two())"])
        }
    }
    @Test("a run in which no test begins or ends any more is ended, however much it prints")
    func silent() async throws {
        try await withTestBed { bed in
            let (process, report) = try run(
                """
                begin(*chosen)
                while True:
                    print('output', flush=True)
                    time.sleep(1)
                """, environment: ["BROKER_TEST_LIMIT": "5"], in: bed)
            #expect(await process.exitStatus() == .exited(1))
            // On a busy machine the five seconds may end before the tests begin.
            let why = ["Had not ended when no test had begun or ended", "The process ended between two tests"]
            #expect(report().contains { line in why.contains { line.hasPrefix($0) } }, "\(report())")
        }
    }
}
