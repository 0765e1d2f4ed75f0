import Foundation

/// The number of memory mappings of this process. The system allows 65,530 (`vm.max_map_count`).
package func mappings() throws -> Int {
    // String(contentsOfFile:) reads only the first page of such a file.
    let file = try FileHandle(forReadingFrom: URL(filePath: "/proc/self/maps"))
    return (try file.readToEnd() ?? Data()).count { $0 == UInt8(ascii: "\n") }
}
