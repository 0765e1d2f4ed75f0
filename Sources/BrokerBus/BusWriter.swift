import CSystemd
import Glibc

/// Writes the arguments of a call, in order.
package struct BusWriter {
    private let message: OpaquePointer

    init(_ message: OpaquePointer) { self.message = message }

    /// Writes a text; one with a zero byte, which the bus does not carry, is refused.
    package func string(_ text: String) throws(BusError) { try basic("s", text) }

    /// Writes an object's path; an invalid one is refused.
    package func path(_ path: String) throws(BusError) { try basic("o", path) }

    package func flag(_ isTrue: Bool) throws(BusError) {
        var value: Int32 = isTrue ? 1 : 0
        try check(sd_bus_message_append_basic(message, type("b"), &value))
    }

    package func number(_ number: UInt32) throws(BusError) { try basic("u", number) }

    package func number(_ number: UInt64) throws(BusError) { try basic("t", number) }

    package func number(_ number: Int32) throws(BusError) { try basic("i", number) }

    package func bytes(_ bytes: UnsafeRawBufferPointer) throws(BusError) {
        try check(sd_bus_message_append_array(message, type("y"), bytes.baseAddress, bytes.count))
    }

    /// Writes a container.
    ///
    /// - Parameters:
    ///   - kind: `a` for an array, `r` for a structure, `e` for an entry of a dictionary, `v` for a variant.
    ///   - contents: the signature of its contents.
    package func inside(
        _ kind: Unicode.Scalar, _ contents: String, _ body: () throws(BusError) -> Void
    ) throws(BusError) {
        try check(sd_bus_message_open_container(message, type(kind), contents))
        try body()
        try check(sd_bus_message_close_container(message))
    }

    package func paths(_ paths: [String]) throws(BusError) {
        try inside("a", "o") { () throws(BusError) in for path in paths { try self.path(path) } }
    }

    /// A dictionary of strings.
    package func words(_ words: KeyValuePairs<String, String>) throws(BusError) {
        try inside("a", "{ss}") { () throws(BusError) in
            for (name, value) in words {
                try inside("e", "ss") { () throws(BusError) in
                    try string(name)
                    try string(value)
                }
            }
        }
    }

    /// An entry of a dictionary of variants.
    package func entry(
        _ name: String, _ contents: String, _ value: () throws(BusError) -> Void
    ) throws(BusError) {
        try inside("e", "sv") { () throws(BusError) in
            try string(name)
            try inside("v", contents, value)
        }
    }

    private func basic(_ kind: Unicode.Scalar, _ text: String) throws(BusError) {
        guard !text.utf8.contains(0) else { throw BusError(number: EINVAL) }
        try check(text.withCString { sd_bus_message_append_basic(message, type(kind), $0) })
    }

    private func basic<Number: FixedWidthInteger>(_ kind: Unicode.Scalar, _ number: Number) throws(BusError) {
        try check(withUnsafePointer(to: number) { sd_bus_message_append_basic(message, type(kind), $0) })
    }

    private func type(_ scalar: Unicode.Scalar) -> CChar { CChar(truncatingIfNeeded: scalar.value) }
}
