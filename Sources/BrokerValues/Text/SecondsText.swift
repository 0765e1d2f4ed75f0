extension BinaryInteger {
    /// The number of seconds as text for people: "1 second", "7 seconds".
    package var inSeconds: String { self == 1 ? "1 second" : "\(self) seconds" }
}
