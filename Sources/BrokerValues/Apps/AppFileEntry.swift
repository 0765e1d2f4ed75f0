/// An app in a file of the administrator, a package or the user (`apps.d/*.toml`). It has no secret.
package struct AppFileEntry: Sendable, Equatable {
    package var description: AppDescription
    package var authority = ""
    package var isInstanceAware = false
    /// The file that registers the app, as `PATH:LINE`.
    package var origin: String

    package init(name: String, origin: String) {
        description = AppDescription(name: name)
        self.origin = origin
    }
}
