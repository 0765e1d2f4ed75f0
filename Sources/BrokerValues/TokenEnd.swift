/// When a token ends, where nobody says.
package enum TokenEnd {
    /// Stands for an end that the provider did not name: the token is good until somebody reports that it was refused. Seconds
    /// since 1970: the last second that dates of four-digit years can express.
    package static let unknown: NumericDate = 253_402_300_799
}
