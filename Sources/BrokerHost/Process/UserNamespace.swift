import BrokerSystem

/// The user namespace that the broker runs in.
package enum UserNamespace {
    /// The uid that stands for all users without a number in this namespace (user_namespaces(7)); `nil` if every user has one.
    package static var overflowUID: UInt32? {
        isWhole(text("/proc/self/uid_map"))
            ? nil : UInt32(text("/proc/sys/kernel/overflowuid").filter(\.isNumber)) ?? 65_534
    }

    static func isWhole(_ map: String) -> Bool {
        map.split(whereSeparator: \.isWhitespace).compactMap { UInt32($0) } == [0, 0, .max]
    }

    private static func text(_ path: String) -> String {
        String(decoding: (try? readFile(at: path, atMost: 4096, isTrusted: false)) ?? [], as: UTF8.self)
    }
}
