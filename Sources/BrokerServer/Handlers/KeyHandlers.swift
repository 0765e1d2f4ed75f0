import BrokerEngine
import BrokerModel
import BrokerRPC
import BrokerValues

/// `keys.…`.
struct KeyHandlers: Sendable {
    let lock: BrokerLock

    var all: [any AnyMethodHandler] {
        [
            .waiting(GetKeyStatus.self) { _ in KeyState(await lock.keyStatus()) },
            .waiting(RotateKey.self) { _ throws(BrokerError) in
                try await lock.replaceDataKeys()
                return KeyState(await lock.keyStatus())
            },
            .waiting(SetKeySource.self) { request throws(BrokerError) in
                try await lock.setKeySource(
                    request.params.source, request.params.place,
                    passphrase: request.params.passphrase.map { Secret($0) })
                return KeyState(await lock.keyStatus())
            },
        ]
    }
}

extension KeyState {
    fileprivate init(_ status: KeyStatus) {
        self.init()
        source = status.source
        if !status.added.isEmpty { added = status.added }
        wrappedOn = status.wrappedOn
        available = status.available
        resealing = status.isResealing
    }
}
