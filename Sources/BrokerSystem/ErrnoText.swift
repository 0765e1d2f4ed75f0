import Glibc

/// The system's text for an error number: "No such file or directory".
package func errnoText(_ number: Int32) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
        guard let base = buffer.baseAddress, strerror_r(number, base, buffer.count) == 0 else {
            return "errno \(number)"
        }
        return String(cString: base)
    }
}
