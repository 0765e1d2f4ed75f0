/// The size of one user's cache.
package struct CacheStatistics: Sendable, Equatable {
    /// The number of records of each kind on disk.
    package struct Records: Sendable, Equatable {
        package var accounts = 0
        package var accessTokens = 0
        package var refreshTokens = 0
        package var idTokens = 0
        package var proofKeys = 0
        package var signOuts = 0
        package var clients = 0
        package var apps = 0
        package var documents = 0
        package var audit = 0
        package var grants = 0

        package init() {}
    }

    package var records = Records()
    package var apps = 0
    package var accounts = 0
    package var signedIn = 0
    package var groups = 0
    package var recordBytes = 0
    package var fileBytes = 0
    package var cacheBytes = 0
    /// The resident memory of the broker; `nil` if the system does not report it.
    package var residentBytes: Int?

    package init() {}
}
