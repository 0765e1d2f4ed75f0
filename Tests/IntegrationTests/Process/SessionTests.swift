import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

extension LoginBus {
    /// A broker that was seen to receive logind's signals, unlocked again.
    func startBroker(_ settings: String, hearing word: () async throws -> Void) async throws -> BrokerProcess {
        let broker = try await BrokerProcess.start(in: bed) { options in
            options.configuration = "[lock]\n\(settings)\n"
            options.wrapper = ["/usr/bin/env", "DBUS_SYSTEM_BUS_ADDRESS=\(address)"]
        }
        try await eventually("the broker hears logind") {
            try await word()
            return try await broker.isLocked() == true
        }
        #expect(try await broker.ctl(["unlock"]).succeeded)
        return broker
    }
}

@Suite("Locking with the session and before sleep", .serialized) struct SessionTests {
    @Test("the broker locks each time before the machine sleeps, and waking up does not unlock it")
    func sleep() async throws {
        try await withTestBed { bed in
            let login = try await LoginBus.start(in: bed)
            let broker = try await login.startBroker("on_suspend = true") { try await login.sleeps() }
            try await login.sleeps(false)
            #expect(try await broker.isLocked() == false)
            try await login.sleeps()
            try await eventually("it is locked") { try await broker.isLocked() == true }
            try await login.sleeps(false)
            #expect(try await broker.isLocked() == true)
        }
    }

    @Test("the broker locks with a session of its user, not with another user's, and no signal unlocks it")
    func screen() async throws {
        try await withTestBed { bed in
            let login = try await LoginBus.start(in: bed)
            let broker = try await login.startBroker("on_screen_lock = true") {
                try await login.session("c1", "Lock")
            }
            try await login.session("other", "Lock")
            try await login.session("c1", "Unlock")
            #expect(try await broker.isLocked() == false)
            try await login.session("c1", "Lock")
            try await eventually("it is locked") { try await broker.isLocked() == true }
            try await login.session("c1", "Unlock")
            #expect(try await broker.isLocked() == true)
        }
    }

    @Test("a signal that another program sends in logind's name changes nothing")
    func forged() async throws {
        try await withTestBed { bed in
            let login = try await LoginBus.start(in: bed)
            let broker = try await login.startBroker("on_screen_lock = true\non_suspend = true") {
                try await login.session("c1", "Lock")
            }
            for signal in [
                ["/org/freedesktop/login1/session/c1", "org.freedesktop.login1.Session", "Lock"],
                ["/org/freedesktop/login1", "org.freedesktop.login1.Manager", "PrepareForSleep", "b", "true"],
            ] {
                let sent = try await login.call(["emit"] + signal)
                #expect(sent.succeeded, "\(sent)")
            }
            // logind's own signal follows them on the same connection: when it has arrived, they have.
            try await login.session("other", "Lock")
            #expect(try await broker.isLocked() == false)
            try await login.session("c1", "Lock")
            try await eventually("it is locked") { try await broker.isLocked() == true }
        }
    }
}
