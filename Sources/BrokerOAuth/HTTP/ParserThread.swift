import BrokerValues
import Dispatch

/// Parses large responses of providers apart from the few threads that Swift's tasks share, so that other requests do
/// not wait for them. Serial: a provider that sends several delays only its own.
///
/// Small ones are parsed at once. They are the rule, and none of them waits behind a large one.
package final class ParserThread: Sendable {
    /// In bytes.
    package static let largestAtOnce = 16 << 10

    /// A serial Dispatch queue uses a thread beyond those of the tasks while it has work.
    private let queue = DispatchQueue(label: "provider-answers")

    package init() {}

    /// - Parameters:
    ///   - count: the number of bytes to parse.
    ///   - work: takes time in proportion to them.
    package func read<Value: Sendable>(
        bytes count: Int, _ work: @escaping @Sendable () -> Value
    ) async -> Value {
        guard count > Self.largestAtOnce else { return work() }
        return await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: work()) }
        }
    }

    /// The object that the text is; from an array of errors, as some providers send them, it takes the first.
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
