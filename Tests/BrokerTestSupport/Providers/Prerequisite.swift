import Foundation

/// The tests' requirements of the machine, beyond the build.
package enum Prerequisite: Sendable {
    case glewlwyd
    case lemonLDAP
    case chromium
    case kubectl
    case mailPrograms
    /// Private namespaces, another user's id: privileges that a test cannot provide itself.
    case root

    /// One sentence about what is missing and how to install it; `nil` if it is available.
    package var missing: String? {
        switch self {
        case .glewlwyd: Launch.find("glewlwyd") == nil ? "glewlwyd is missing: apt-get install glewlwyd." : nil
        case .lemonLDAP:
            Launch.find("plackup") != nil
                && FileManager.default.fileExists(atPath: "/usr/share/perl5/Lemonldap/NG/Portal/Main.pm")
                ? nil
                : "LemonLDAP::NG is missing: apt-get install liblemonldap-ng-portal-perl libplack-perl libstring-random-perl."
        case .chromium:
            ["chromium", "chromedriver"].allSatisfy { Launch.find($0) != nil }
                ? nil : "Chromium is missing: apt-get install chromium chromium-driver."
        case .kubectl: Launch.find("kubectl") == nil ? "kubectl is missing: apt-get install kubernetes-client." : nil
        case .mailPrograms:
            ["msmtp", "mutt", "neomutt", "mbsync", "dovecot"].allSatisfy { Launch.find($0) != nil }
                ? nil : "Mail programs are missing: .ci/deps test installs them."
        case .root: geteuid() == 0 ? nil : "This needs root, for a mount namespace or another user's id."
        }
    }

    package func require() throws {
        if let missing { throw ProcessFailure(missing) }
    }

    /// Whether a test that needs this should run: in continuous integration always, so that a missing one is a
    /// failure there and not skipped.
    package var shouldRun: Bool { missing == nil || ProcessInfo.processInfo.environment["CI"] == "true" }
}
