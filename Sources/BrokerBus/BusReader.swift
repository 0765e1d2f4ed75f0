import CSystemd
import Glibc

/// Reads the content of a reply or a signal, in order.
package final class BusReader {
    private let message: OpaquePointer

    init(taking message: OpaquePointer) { self.message = message }

    init(sharing message: OpaquePointer) { self.message = sd_bus_message_ref(message) }

    deinit { sd_bus_message_unref(message) }

    /// The unique name of the sender.
    package var sender: String? { sd_bus_message_get_sender(message).map { String(cString: $0) } }

    /// The path of the object that a signal is from.
    package var object: String? { sd_bus_message_get_path(message).map { String(cString: $0) } }

    package func string() throws(BusError) -> String { try require(text("s")) }

    package func path() throws(BusError) -> String { try require(text("o")) }

    package func flag() throws(BusError) -> Bool {
        var value: Int32 = 0
        try require(sd_bus_message_read_basic(message, type("b"), &value))
        return value != 0
    }

    package func number() throws(BusError) -> UInt32 {
        var value: UInt32 = 0
        try require(sd_bus_message_read_basic(message, type("u"), &value))
        return value
    }

    /// Reads a descriptor.
    ///
    /// - Returns: a copy, which the caller closes.
    package func descriptor() throws(BusError) -> Int32 {
        var value: Int32 = -1
        try require(sd_bus_message_read_basic(message, type("h"), &value))
        let own = fcntl(value, F_DUPFD_CLOEXEC, 3)
        guard own >= 0 else { throw BusError(number: errno) }
        return own
    }

    /// Passes bytes to `body` without copying them.
    package func bytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) throws(BusError) -> Result {
        var start: UnsafeRawPointer?
        var count = 0
        try check(sd_bus_message_read_array(message, type("y"), &start, &count))
        return body(UnsafeRawBufferPointer(start: start, count: count))
    }

    /// Skips values.
    ///
    /// - Parameter types: the signature of the values.
    package func skip(_ types: String) throws(BusError) { try check(sd_bus_message_skip(message, types)) }

    /// Reads the content of a container; `nil` if the enclosing list has ended.
    package func inside<Result>(
        _ kind: Unicode.Scalar, _ contents: String, _ body: () throws(BusError) -> Result
    ) throws(BusError) -> Result? {
        let code = sd_bus_message_enter_container(message, type(kind), contents)
        try check(code)
        guard code > 0 else { return nil }
        let result = try body()
        try check(sd_bus_message_exit_container(message))
        return result
    }

    /// All elements of an array.
    package func list<Element>(
        _ contents: String, _ element: () throws(BusError) -> Element
    ) throws(BusError) -> [Element] {
        var elements: [Element] = []
        _ = try inside("a", contents) { () throws(BusError) in
            while sd_bus_message_at_end(message, 0) == 0 { elements.append(try element()) }
        }
        return elements
    }

    private func text(_ kind: Unicode.Scalar) throws(BusError) -> String? {
        var start: UnsafePointer<CChar>?
        try require(sd_bus_message_read_basic(message, type(kind), &start))
        return start.map { String(cString: $0) }
    }

    private func require(_ code: Int32) throws(BusError) {
        // 0 is the end of the message.
        if code <= 0 { throw BusError(code: code == 0 ? -EBADMSG : code) }
    }

    private func require<Value>(_ value: Value?) throws(BusError) -> Value {
        guard let value else { throw BusError(number: EBADMSG) }
        return value
    }

    private func type(_ scalar: Unicode.Scalar) -> CChar { CChar(truncatingIfNeeded: scalar.value) }
}
