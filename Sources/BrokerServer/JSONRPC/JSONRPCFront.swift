import BrokerRPC
import BrokerSocket
import BrokerValues

/// The broker's own protocol: a line of JSON-RPC 2.0 becomes requests to the ``RequestService``, and their answers a line.
package struct JSONRPCFront: Front {
    package let door = Door.socket
    private let service: RequestService
    package let hasNotifications = true

    package init(_ service: RequestService) { self.service = service }

    package func converse() -> any Conversation { JSONRPCConversation(service: service) }

    package func refusal(_ error: BrokerError) -> [UInt8] { Self.refusal(error) }

    /// An error that answers no particular request, as a line.
    package static func refusal(_ error: BrokerError) -> [UInt8] {
        line(RPCError(error.correlated(CorrelationID.make())))
    }

    package func refusal(_ reason: ConnectionRefusal) -> [UInt8] {
        switch reason {
        case .lineTooLong(let limit): Self.line(.lineTooLong(limit: limit))
        case .lineCutOff: Self.line(.lineCutOff)
        default: refusal(BrokerError(reason))
        }
    }

    private static func line(_ error: RPCError) -> [UInt8] {
        var writer = JSONWriter()
        writer.refuse(with: error, to: nil)
        writer.endLine()
        return writer.bytes
    }
}

/// Each line is independent.
final class JSONRPCConversation: Conversation {
    private let service: RequestService
    let isOver = false

    init(service: RequestService) { self.service = service }

    func makeSplitter(limit: Int) -> any MessageSplitter { LineSplitter(limit: limit) }

    func begin(
        _ line: UnsafeRawBufferPointer, in context: ConnectionContext, refusing refusal: BrokerError?,
        _ writer: inout JSONWriter
    ) -> MessageHandling {
        let handling: MessageHandling
        switch RequestLine(line) {
        case .single(let item): handling = begin(item, in: context, refusal, &writer)
        case .batch(let items): handling = context.lookingOnce { begin(items, in: context, refusal, &writer) }
        case .refused(let error):
            writer.refuse(with: error, to: nil)
            handling = .answered
        }
        switch handling {
        case .answered:
            writer.endAnyLine()
            return .answered
        case .waits(let requests, let held, let rest):
            return .waits(requests: requests, held: held) { writer, holds in
                let after = await rest(&writer, holds)
                writer.endAnyLine()
                return after
            }
        }
    }

    private func begin(
        _ item: RequestLine.Item, in context: ConnectionContext, _ refusal: BrokerError?, _ writer: inout JSONWriter
    ) -> MessageHandling {
        let call: Call
        switch item {
        case .invalid(let id, let error):
            writer.refuse(with: error, to: id)
            return .answered
        case .call(let read): call = read
        }
        var reply = JSONRPCReply(id: call.id, vault: service.vault, writer: JSONWriter())
        swap(&reply.writer, &writer)
        defer { swap(&reply.writer, &writer) }
        if let refusal {
            reply.fail(refusal.correlated(CorrelationID.make()))
            return .answered
        }
        guard let handler = service.handler(of: call.method, in: context) else {
            reply.refuse(.methodNotFound(call.method))
            return .answered
        }
        let handling = service.begin(handler.rules, in: context, &reply) { () throws(RequestRefusal) in
            try handler.read(call)
        }
        switch handling {
        case .answered: return .answered
        case .waits(let rest):
            return .waits(requests: 1) { [id = call.id, vault = service.vault] writer, _ in
                var reply = JSONRPCReply(id: id, vault: vault, writer: JSONWriter())
                let after = await rest(&reply)
                writer = reply.writer
                return after
            }
        }
    }

    /// One array answers a batch, once the last answer is ready (JSON-RPC 2.0, section 6).
    private func begin(
        _ items: [RequestLine.Item], in context: ConnectionContext, _ refusal: BrokerError?, _ writer: inout JSONWriter
    ) -> MessageHandling {
        var answers = BatchAnswers()
        var waiting: [(id: RequestID?, rest: MessageHandling.Rest)] = []
        for item in items {
            var answer = JSONWriter()
            switch begin(item, in: context, refusal, &answer) {
            case .answered: _ = answers.add(answer, to: item.id)
            case .waits(_, _, let rest): waiting.append((item.id, rest))
            }
        }
        guard !waiting.isEmpty else {
            answers.write(to: &writer)
            return .answered
        }
        return .waits(requests: waiting.count, held: answers.count) { [answers, waiting] writer, holds in
            var answers = answers
            var following: [@Sendable () -> Void] = []
            await withTaskGroup(of: (RequestID?, JSONWriter, (@Sendable () -> Void)?).self) { group in
                for (id, rest) in waiting {
                    group.addTask {
                        var answer = JSONWriter()
                        let after = await rest(&answer) { _ in }
                        return (id, answer, after)
                    }
                }
                for await (id, answer, after) in group {
                    let fits = answers.add(answer, to: id)
                    holds(answers.count)
                    if fits, let after { following.append(after) }
                }
            }
            answers.write(to: &writer)
            return { [following] in for begin in following { begin() } }
        }
    }
}

extension JSONWriter {
    /// Notifications have no answer.
    fileprivate mutating func endAnyLine() {
        if !bytes.isEmpty { endLine() }
    }
}
