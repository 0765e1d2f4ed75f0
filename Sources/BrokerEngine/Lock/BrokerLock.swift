import BrokerModel
import BrokerTokenCache
import BrokerValues
import Logging
import Synchronization

/// The transitions from open to locked and back (docs/decisions/0009).
///
/// From the first moment no new work is admitted. Work in progress continues to its end: a refresh may have made the provider
/// replace a token, and without a key the new one could not be kept. Then the keys are removed, and with them every secret in
/// memory.
package final class BrokerLock: Sendable {
    private struct State {
        var closing: Task<Void, Never>?
        /// The number of lock requests: an unlock that began before one is void.
        var locks: UInt64 = 0
        var attempts = UnlockAttempts()
    }

    let keys: any VaultKeys
    private let cache: TokenCache
    private let gate: LockGate
    private let roster: any AppRoster
    private let settings: SettingsBox
    private let stop: StopSignal
    let clock: any BrokerClock
    let log: Logger
    /// Ends work that waits for people and refuses more of it with this error; `nil` allows it again.
    private let refuse: @Sendable (BrokerError?) -> Void
    private let state = Mutex(State())
    let changes = Turns()
    private let closings = Broadcast<Void>()

    init(
        keys: any VaultKeys, cache: TokenCache, gate: LockGate, roster: any AppRoster, settings: SettingsBox,
        stop: StopSignal, clock: any BrokerClock, log: Logger, refuse: @escaping @Sendable (BrokerError?) -> Void
    ) {
        (self.keys, self.cache, self.gate, self.roster) = (keys, cache, gate, roster)
        (self.settings, self.stop, self.clock, self.log, self.refuse) = (settings, stop, clock, log, refuse)
        if !keys.isLocked { gate.open() }
        gate.whenIdle { [weak self] in self?.lockIfIdle() }
    }

    package var isLocked: Bool { keys.isLocked }

    /// - Parameter act: called as soon as no new work is admitted, and once more when no work is in progress.
    /// - Returns: a subscription that ends when it is released.
    package func whenLocking(_ act: @escaping @Sendable () -> Void) -> Subscription { closings.subscribe(act) }

    // MARK: Locking

    /// Locks the broker. Returns when no key is in memory.
    ///
    /// - Parameter reason: for the log.
    package func lock(because reason: String) async {
        await closing(because: reason).value
    }

    private func closing(because reason: String) -> Task<Void, Never> {
        state.withLock { state in
            state.locks += 1
            if let closing = state.closing { return closing }
            let closing = Task { await close(because: reason) }
            state.closing = closing
            return closing
        }
    }

    private func close(because reason: String) async {
        defer { state.withLock { $0.closing = nil } }
        guard !keys.isLocked else { return }
        refuse(.locked)
        closings.tell(())
        await gate.shut()
        // Work admitted before may have subscribed since.
        closings.tell(())
        if await !cache.writer.flush() {
            log.error("the broker is locked before everything could be written; it stays in memory, sealed")
        } else {
            cache.index.forget()
        }
        dropSecrets()
        refuse(nil)
        log.notice("locked", metadata: ["reason": "\(reason)"])
    }

    /// The registrations go last: without a key they cannot be read again.
    private func dropSecrets() {
        keys.lock()
        roster.forget()
    }

    /// Locks the broker if it was idle for long enough.
    ///
    /// - Returns: the time until the next check; `nil` if idle time does not count.
    @discardableResult
    package func lockIfIdle() -> Duration? {
        guard let limit = settings.value.idleLimit else { return nil }
        let now = clock.uptime
        guard gate.isIdle(at: now, for: limit), !keys.isLocked else {
            return max(gate.lastUse + limit - now, .seconds(1))
        }
        _ = closing(because: "idle")
        return limit
    }

    // MARK: Unlocking

    /// Unlocks the broker.
    ///
    /// - Parameters:
    ///   - passphrase: for the source that asks a person; wrong ones delay the next attempt.
    ///   - caller: the caller's name in the access rules.
    /// - Throws: `accessDenied` for a wrong passphrase, `locked` if the key is not available yet, `throttled`.
    package func unlock(passphrase: Secret?, caller: String) async throws(BrokerError) {
        await state.withLock { $0.closing }?.value
        let locks = state.withLock(\.locks)
        guard keys.isLocked else { return }
        if passphrase != nil { try await waitForTurn(caller) }
        do throws(VaultError) {
            try await keys.unlock(passphrase: passphrase)
        } catch {
            log.warning("unlocking failed", metadata: ["caller": "\(caller)", "cause": "\(error)"])
            throw BrokerError(ofKeys: error)
        }
        guard opens(since: locks) else {
            log.notice(
                "the broker was locked during the unlock and stays locked", metadata: ["caller": "\(caller)"])
            throw .locked
        }
        log.notice("unlocked", metadata: ["caller": "\(caller)"])
    }

    /// Opens a broker that started without its key as soon as the key is available. A broker locked by a person stays locked.
    package func unlockByItself() async {
        // Each message is logged only once.
        var said = ""
        for await _ in keys.keyChanges() {
            guard keys.isLocked, state.withLock({ $0.locks == 0 }) else { return }
            do throws(VaultError) {
                try await keys.unlockUnasked()
                guard opens(since: 0) else { return }
                log.notice("unlocked: the key is available")
                return
            } catch {
                let text = "\(error)"
                if text != said { log.notice("still locked", metadata: ["cause": "\(text)"]) }
                said = text
            }
        }
    }

    /// - Parameter locks: the value of ``State/locks`` when the unlock began.
    private func opens(since locks: UInt64) -> Bool {
        state.withLock { state in
            state.attempts.succeeded()
            // An unlock that began after that lock, and was quicker, may have opened it already.
            if state.locks != locks, !gate.isOpen { dropSecrets() }
            guard !keys.isLocked else { return false }
            gate.open()
            return true
        }
    }

    private func waitForTurn(_ caller: String) async throws(BrokerError) {
        let now = clock.uptime
        guard let pause = state.withLock({ $0.attempts.begin(caller, at: now) }) else {
            throw BrokerError(
                .throttled, "There were too many wrong passphrases; wait a minute, then run brokerctl unlock again."
            ) { $0.retryAfter = Int(UnlockAttempts.longestPause.components.seconds) }
        }
        guard pause > .zero else { return }
        let turn = Promise<BrokerError?>()
        let timer = Task { [clock] in
            try await clock.sleep(for: pause)
            turn.fulfil(nil)
        }
        defer { timer.cancel() }
        if let error = await stop.wait(for: turn, stopped: .stopping, canceled: .callerWentAway) { throw error }
    }
}
