import CSystemd
import Glibc

/// A connection to a message bus (D-Bus, by libsystemd), for one thread at a time. Every call blocks.
package final class Bus {
    package enum Kind: Sendable { case session, system }

    /// A method of an object.
    package struct Method: Sendable {
        package var service: String
        package var path: String
        package var interface: String
        package var name: String

        package init(_ name: String, of interface: String, at path: String, service: String) {
            self.service = service
            self.path = path
            self.interface = interface
            self.name = name
        }
    }

    let handle: OpaquePointer
    private var handlers: [Handler] = []

    package init(_ kind: Kind = .session) throws(BusError) {
        var opened: OpaquePointer?
        let code =
            switch kind {
            case .session: sd_bus_open_user(&opened)
            case .system: sd_bus_open_system(&opened)
            }
        guard code >= 0, let opened else { throw BusError(code: code) }
        handle = opened
    }

    deinit { sd_bus_flush_close_unref(handle) }

    // MARK: Calls

    /// Calls a method, and waits for the reply.
    ///
    /// - Parameters:
    ///   - patience: the timeout of the call.
    ///   - isSecret: whether the memory of call and reply is wiped when it is freed.
    @discardableResult
    package func call(
        _ method: Method, within patience: Duration, isSecret: Bool = false,
        _ arguments: (BusWriter) throws(BusError) -> Void = { _ in }
    ) throws(BusError) -> BusReader {
        var message: OpaquePointer?
        let code = sd_bus_message_new_method_call(
            handle, &message, method.service, method.path, method.interface, method.name)
        guard code >= 0, let message else { throw BusError(code: code) }
        defer { sd_bus_message_unref(message) }
        if isSecret { try check(sd_bus_message_sensitive(message)) }
        try arguments(BusWriter(message))
        var failure = sd_bus_error()
        defer { sd_bus_error_free(&failure) }
        var answer: OpaquePointer?
        let status = sd_bus_call(handle, message, patience.microseconds, &failure, &answer)
        guard status >= 0, let answer else { throw BusError(code: status, failure) }
        let reader = BusReader(taking: answer)
        if isSecret { try check(sd_bus_message_sensitive(answer)) }
        return reader
    }

    /// Reads a property of an object.
    ///
    /// - Parameters:
    ///   - type: the signature of the property's value.
    ///   - value: reads the value.
    package func property<Value>(
        _ name: String, _ type: String, of interface: String, at path: String, service: String,
        within patience: Duration, _ value: (BusReader) throws(BusError) -> Value
    ) throws(BusError) -> Value {
        let get = Method("Get", of: "org.freedesktop.DBus.Properties", at: path, service: service)
        let answer = try call(get, within: patience) { arguments throws(BusError) in
            try arguments.string(interface)
            try arguments.string(name)
        }
        let read = try answer.inside("v", type) { () throws(BusError) in try value(answer) }
        guard let read else { throw BusError(number: EBADMSG) }
        return read
    }

    /// The unique name of the program that owns a name; `nil` if there is none. It starts no program.
    package func owner(of service: String, within patience: Duration) throws(BusError) -> String? {
        do throws(BusError) {
            let answer = try call(.ofBus("GetNameOwner"), within: patience) { arguments throws(BusError) in
                try arguments.string(service)
            }
            return try answer.string()
        } catch {
            guard error.isAbsence else { throw error }
            return nil
        }
    }

    /// An object's path that ends with a name, which may have any characters (sd_bus_path_encode(3)).
    package static func path(_ prefix: String, _ name: String) -> String? {
        var encoded: UnsafeMutablePointer<CChar>?
        guard sd_bus_path_encode(prefix, name, &encoded) >= 0, let encoded else { return nil }
        defer { free(encoded) }
        return String(cString: encoded)
    }

    /// Whether a program owns the name, or would be started for it. It starts no program.
    package func offers(_ service: String, within patience: Duration) throws(BusError) -> Bool {
        for name in ["ListNames", "ListActivatableNames"] {
            let answer = try call(.ofBus(name), within: patience)
            if try answer.list("s", { () throws(BusError) in try answer.string() }).contains(service) { return true }
        }
        return false
    }

    // MARK: Signals

    /// The callback of a signal.
    private final class Handler {
        let handle: (BusReader) -> Void
        init(_ handle: @escaping (BusReader) -> Void) { self.handle = handle }
    }

    /// Calls `body` in ``wait(for:until:)`` for each signal that matches a rule (dbus-daemon(1)), until the connection ends. The
    /// bus lets every program send signals: their content is a hint.
    package func onSignal(_ rule: String, _ body: @escaping (BusReader) -> Void) throws(BusError) {
        let handler = Handler(body)
        let code = sd_bus_add_match(
            handle, nil, "type='signal'," + rule,
            { message, context, _ in
                guard let message, let context else { return 0 }
                Unmanaged<Handler>.fromOpaque(context).takeUnretainedValue().handle(BusReader(sharing: message))
                return 0
            }, Unmanaged.passUnretained(handler).toOpaque())
        guard code >= 0 else { throw BusError(code: code) }
        handlers.append(handler)
    }

    /// Handles signals until a condition is true, or the time is over.
    ///
    /// - Returns: whether the condition is true.
    @discardableResult
    package func wait(for patience: Duration, until condition: () -> Bool) throws(BusError) -> Bool {
        let end = ContinuousClock.now + patience
        while true {
            let code = sd_bus_process(handle, nil)
            guard code >= 0 else { throw BusError(code: code) }
            if condition() { return true }
            let rest = end - .now
            guard rest > .zero else { return false }
            // There may be more to process.
            if code > 0 { continue }
            let status = sd_bus_wait(handle, rest.microseconds)
            guard status >= 0 || status == -EINTR else { throw BusError(code: status) }
        }
    }
}

extension Bus.Method {
    fileprivate static func ofBus(_ name: String) -> Bus.Method {
        Bus.Method(name, of: "org.freedesktop.DBus", at: "/org/freedesktop/DBus", service: "org.freedesktop.DBus")
    }
}

extension Duration {
    /// At least one: zero means the default timeout.
    fileprivate var microseconds: UInt64 {
        UInt64(max(1, components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000))
    }
}

func check(_ code: Int32) throws(BusError) { if code < 0 { throw BusError(code: code) } }
