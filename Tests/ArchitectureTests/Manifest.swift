/// Reads the dependencies of a target out of Package.swift, as text.
enum Manifest {
    /// - Returns: the text of the list; nil when the manifest has no such target.
    static func dependencies(of target: String, in manifest: String) -> Substring? {
        for call in ["layer(", "program("] {
            for range in manifest.ranges(of: call) {
                let rest = manifest[range.upperBound...].drop(while: \.isWhitespace)
                guard rest.hasPrefix("\"\(target)\""), let open = rest.firstIndex(of: "["),
                    let close = rest[open...].firstIndex(of: "]")
                else { continue }
                return rest[open...close]
            }
        }
        return nil
    }
}
