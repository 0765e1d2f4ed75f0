import BrokerTestSupport
import Foundation

/// The packages that are linked into a program, derived from the linker's input.
enum LinkedPackages {
    static func of(_ program: String) throws -> [String] {
        let path = try PackageTree.program(program)
        let built = URL(filePath: path).deletingLastPathComponent()
        let objects = try String(contentsOfFile: "\(path).product/Objects.LinkFileList", encoding: .utf8)
        let modules = Set(objects.matches(of: /([^\/\n]+)\.build\//).map { String($0.1) })
        return modules.flatMap { module -> [String] in
            // C modules have no such file; each belongs to a package that has one in Swift.
            let sources = try? String(contentsOf: built.appending(path: "\(module).build/sources"), encoding: .utf8)
            return sources?.matches(of: /\/checkouts\/([^\/]+)\//).map { String($0.1) } ?? []
        }
    }
}
