/// Identifies one login on both sides.
struct LoginName {
    /// 128 random bits, in letters and digits.
    let text: String

    static func random() -> LoginName {
        let halves = [UInt64.random(in: 0...UInt64.max), UInt64.random(in: 0...UInt64.max)]
        return LoginName(text: halves.map { String($0, radix: 36) }.joined())
    }
}
