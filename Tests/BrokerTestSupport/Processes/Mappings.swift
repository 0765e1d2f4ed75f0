import Foundation

/// How many mappings of memory this process has. The system allows it 65,530 (`vm.max_map_count`).
package func mappings() throws -> Int {
    // String(contentsOfFile:) takes the first page of such a file for all of it.
    let file = try FileHandle(forReadingFrom: URL(filePath: "/proc/self/maps"))
    return (try file.readToEnd() ?? Data()).count { $0 == UInt8(ascii: "\n") }
}
