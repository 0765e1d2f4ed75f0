extension BinaryInteger {
    /// A number of seconds, for people: "1 second", "7 seconds".
    package var inSeconds: String { self == 1 ? "1 second" : "\(self) seconds" }
}
