/// The end of a token whose lifetime is unknown.
package enum TokenEnd {
    /// Represents an end that the provider did not specify: the token is valid until it is reported as refused. It is the last
    /// second, since 1970, that dates with four-digit years can express.
    package static let unknown: NumericDate = 253_402_300_799
}
