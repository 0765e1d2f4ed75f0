import BrokerRPC

/// Distinguishes a slow broker from one that has stopped: a second connection asks it for its status.
///
/// A sign-in may take minutes, and so may an answer from a slow provider, while the broker answers other clients. A
/// stopped or deadlocked broker answers no one.
package struct Liveness: Sendable {
    /// The time without received data after which the broker is asked.
    package var silence = Duration.seconds(10)
    /// How long the broker may take to answer the check: longer than a busy machine needs.
    package var answerTime = Duration.seconds(15)

    package init() {}

    /// Asks once, on a separate connection. Anything but silence counts: a refusal, and the end of the connection.
    func isAnswering(at location: SocketLocation) async -> Bool {
        await firstToEnd(
            { await Self.asks(location) },
            {
                try? await Task.sleep(for: answerTime)
                return false
            }) ?? false
    }

    private static func asks(_ location: SocketLocation) async -> Bool {
        while true {
            do {
                let link = try Link.open(location)
                defer { link.close() }
                _ = await link.exchange(line: { GetBrokerStatus.requestLine(id: $0, .init()) })
                return true
            } catch {
                guard error == .busy else { return true }
                guard (try? await Task.sleep(for: .milliseconds(200))) != nil else { return false }
            }
        }
    }
}

extension Link {
    /// Like ``exchange(observer:line:)``, and ends with ``Outcome/tooLate`` if the broker stops answering.
    func exchange(
        at location: SocketLocation, _ liveness: Liveness, observer: Observer? = nil,
        line: @escaping @Sendable (Int64) -> [UInt8]
    ) async -> Outcome {
        let outcome =
            await firstToEnd(
                { await self.exchange(observer: observer, line: line) },
                {
                    while (try? await Task.sleep(for: liveness.silence)) != nil {
                        guard await liveness.isAnswering(at: location) else { return .tooLate }
                    }
                    return .abandoned
                }) ?? .abandoned
        // The other requests on this connection will not be answered either.
        if case .tooLate = outcome { close() }
        return outcome
    }
}

/// The value of the call that ends first; the other one is cancelled and awaited.
private func firstToEnd<Value: Sendable>(
    _ one: @escaping @Sendable () async -> Value, _ other: @escaping @Sendable () async -> Value
) async -> Value? {
    await withTaskGroup(of: Value.self) { group in
        group.addTask { await one() }
        group.addTask { await other() }
        defer { group.cancelAll() }
        return await group.next()
    }
}
