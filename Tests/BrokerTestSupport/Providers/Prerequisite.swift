import Foundation

/// What tests need from the machine beyond the build.
package enum Prerequisite: Sendable {
    case glewlwyd
    case lemonLDAP
    case chromium
    case kubectl
    case mailPrograms
    /// Namespaces of one's own, another user's id: things a test cannot bring along.
    case root

    /// One sentence that says what is missing and how to get it; nil when it is there.
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

    /// Whether a test that needs this should run: in continuous integration always, so that what is missing is a
    /// failure there and not a silence.
    package var shouldRun: Bool { missing == nil || ProcessInfo.processInfo.environment["CI"] == "true" }
}
