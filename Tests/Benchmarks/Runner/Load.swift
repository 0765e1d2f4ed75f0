import BrokerTestSupport
import CEchoServer
import Foundation

/// One request, sent again and again to one socket.
struct Load {
    let path: String
    let request: [UInt8]

    /// Round trips over one connection; the first ones only warm up.
    func roundTrips(_ count: Int = 30_000) throws -> Distribution {
        var times = [UInt64](repeating: 0, count: count)
        for rounds in [count / 10, count] {
            try check("ask \(path)", load_round_trips(path, request, request.count, rounds, &times))
        }
        return Distribution(nanoseconds: times)
    }

    /// Each over a new connection.
    func newConnections(_ count: Int = 5_000) throws -> Distribution {
        var times = [UInt64](repeating: 0, count: count)
        for rounds in [count / 10, count] {
            try check("ask \(path)", load_new_connections(path, request, request.count, rounds, &times))
        }
        return Distribution(nanoseconds: times)
    }

    /// Round trips with a pause after each.
    func paced(_ count: Int = 10_000) throws -> Distribution {
        var times: [UInt64] = []
        for rounds in [count / 10, count] {
            times = try withPaced(rounds) { paced in
                try check("ask \(path)", load_paced(paced))
            }.times
        }
        return Distribution(nanoseconds: times)
    }

    /// Round trips with a pause after each, here and at another server, while other requests arrive here all at once.
    ///
    /// - Parameter lines: the other requests, which must succeed.
    /// - Returns: the times, in nanoseconds, and the duration of the lines in seconds.
    func inStorm(of lines: [String], beside other: Load) throws -> (
        times: [UInt64], beside: [UInt64], seconds: Double
    ) {
        var seconds = 0.0
        let here = try withPaced(100_000) { first in
            try other.withPaced(100_000) { second in
                let code = lines.withCArguments { load_in_storm(path, $0, lines.count, first, second, &seconds) }
                try check("ask \(path)", code)
            }.times
        }
        return (here.times, here.result, seconds)
    }

    /// - Returns: the body's result, and the recorded times.
    private func withPaced<Result>(
        _ room: Int, _ body: (UnsafeMutablePointer<paced_load>) throws -> Result
    ) throws -> (result: Result, times: [UInt64]) {
        var times = [UInt64](repeating: 0, count: room)
        var count = 0
        let result = try times.withUnsafeMutableBufferPointer { times in
            try request.withUnsafeBufferPointer { request in
                try path.withCString { path in
                    var paced = paced_load(
                        path: path, request: request.baseAddress, length: request.count,
                        nanoseconds: times.baseAddress, count: room, code: 0)
                    defer { count = paced.count }
                    return try body(&paced)
                }
            }
        }
        return (result, Array(times.prefix(count)))
    }

    /// Posts forms with nothing but libcurl.
    ///
    /// - Returns: the duration in seconds.
    static func post(_ forms: [String], to url: String) throws -> Double {
        var seconds = 0.0
        try check("post to \(url)", forms.withCArguments { http_posts(url, $0, forms.count, &seconds) })
        return seconds
    }

    /// Requests a second over connections that all send at once.
    func rate(connections: Int = 32, seconds: Double = 3) throws -> Double {
        var rate = 0.0
        try check("ask \(path)", load_connections(path, request, request.count, connections, seconds, &rate))
        return rate
    }
}

struct Distribution {
    private let sorted: [UInt64]

    init(nanoseconds: [UInt64]) { sorted = nanoseconds.sorted() }

    /// In microseconds.
    subscript(percentile: Double) -> Double {
        Double(sorted[min(sorted.count - 1, Int(Double(sorted.count) * percentile / 100))]) / 1000
    }

    var median: Double { self[50] }
}

/// Times of whole programs, in microseconds.
enum Programs {
    static func time(_ arguments: [String], runs: Int = 40) throws -> Distribution {
        try distribution(runs) { time in
            arguments.withCArguments { time_program($0, &time) }
        }
    }

    static func firstAnswer(_ arguments: [String], at path: String, request: [UInt8], runs: Int = 15) throws
        -> Distribution
    {
        try distribution(runs) { time in
            arguments.withCArguments { time_first_answer($0, path, request, request.count, &time) }
        }
    }

    private static func distribution(_ runs: Int, _ run: (inout UInt64) -> Int32) throws -> Distribution {
        var times: [UInt64] = []
        // The first run brings the program into memory.
        for number in 0...runs {
            var time: UInt64 = 0
            try check("run the program", run(&time))
            if number > 0 { times.append(time) }
        }
        return Distribution(nanoseconds: times)
    }
}

extension [String] {
    func withCArguments<Result>(_ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result) -> Result {
        let copies = map { strdup($0) }
        defer { copies.forEach { free($0) } }
        return (copies.map { UnsafePointer($0) } + [nil]).withUnsafeBufferPointer { arguments in
            guard let start = arguments.baseAddress else { preconditionFailure("there is always the final nil") }
            return body(start)
        }
    }
}

/// Runs the body with client and server on one core.
func onOneCore<Result>(_ servers: [ManagedProcess], _ body: () throws -> Result) throws -> Result {
    for pid in servers.map(\.pid) + [getpid()] { try check("pin process \(pid)", pin_process(pid, 0)) }
    defer { for pid in servers.map(\.pid) + [getpid()] { _ = pin_process(pid, -1) } }
    return try body()
}

func check(_ what: String, _ code: Int32) throws {
    guard code == 0 else { throw ProcessFailure("Could not \(what): \(String(cString: strerror(code))).") }
}
