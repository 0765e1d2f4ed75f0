import Glibc

/// The names in a folder, in no order, without `.` and `..`; none where it cannot be read.
package func namesInFolder(_ path: String) -> [String] {
    guard let stream = opendir(path) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
        let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        if name != ".", name != ".." { names.append(name) }
    }
    return names
}

/// All of a file, to its end or at least one byte beyond the limit: then it is longer.
///
/// - Returns: nil when it cannot be read; errno says why.
package func readFile(_ descriptor: Int32, atMost limit: Int) -> [UInt8]? {
    withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 1) { buffer in
        var bytes: [UInt8] = []
        while bytes.count <= limit {
            let count = read(descriptor, buffer.baseAddress, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { break }
            bytes += buffer.prefix(count)
        }
        return bytes
    }
}

/// As ``readFile(_:atMost:)``, of what is at a path.
package func readFile(at path: String, atMost limit: Int) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return readFile(descriptor, atMost: limit)
}
