import BrokerValues
import Dispatch

/// Where large answers of providers are read: beside the few threads that Swift's tasks share, so that no request of anybody
/// else waits for them. One after the other: whoever sends several waits for themselves.
///
/// Small ones are read at once. They are the rule, and none of them stands behind a large one.
package final class ParserThread: Sendable {
    /// Bytes.
    package static let largestAtOnce = 16 << 10

    /// Dispatch gives a serial queue a thread beyond those of the tasks while it has work.
    private let queue = DispatchQueue(label: "provider-answers")

    package init() {}

    /// - Parameters:
    ///   - count: how many bytes there are to read.
    ///   - work: takes time in proportion to them.
    package func read<Value: Sendable>(
        bytes count: Int, _ work: @escaping @Sendable () -> Value
    ) async -> Value {
        guard count > Self.largestAtOnce else { return work() }
        return await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: work()) }
        }
    }

    func object(in text: [UInt8]) async -> Result<JSONObject, JSONReader.Malformed> {
        await read(bytes: text.count) { Result(reading: text) }
    }

    /// As ``object(in:)``; of an array of errors, as some providers send them, the first.
    func answer(in text: [UInt8]) async -> Result<JSONObject, JSONReader.Malformed> {
        await read(bytes: text.count) {
            let object = Result<JSONObject, JSONReader.Malformed>(reading: text)
            guard case .failure = object,
                let first = (try? JSONReader.read(text))?.value.arrayValue?.first?.objectValue, first["error"] != nil
            else { return object }
            return .success(first)
        }
    }
}

extension Result<JSONObject, JSONReader.Malformed> {
    init(reading text: [UInt8]) {
        do throws(JSONReader.Malformed) {
            self = .success(try JSONReader.object(text))
        } catch {
            self = .failure(error)
        }
    }
}
