import BrokerModel
import BrokerTokenCache
import BrokerValues

/// Implements `cache.import`: imports tokens that MSAL saved, for the apps that they belong to.
///
/// Existing tokens that are not older stay. An app that the person signed out of stays signed out.
struct CacheImport: Sendable {
    let cache: TokenCache
    let roster: any AppRoster
    let throttle: ThrottleBox
    let settings: SettingsBox
    let clock: any BrokerClock

    /// - Parameter chosen: `nil` gives each registered app the tokens of its client.
    func run(
        _ file: JSONObject, for chosen: AppRegistration?, in partition: Partition
    ) async throws(BrokerError) -> CacheImportReport {
        try cache.requireCertain(partition)
        let file = UnifiedCache(file)
        var report = CacheImportReport()
        report.problems = file.problems
        let apps = roster.apps(in: partition)
        let targets = (chosen.map { [$0] } ?? apps).flatMap(inItsClouds)
        // Apps of a group that share a client share its tokens: importing for one of them suffices.
        var done: Set<ClientKey> = []
        for target in targets {
            let app = target.app
            let client = ClientKey(of: app, at: app.authority, in: partition)
            guard done.insert(client).inserted else { continue }
            let plan = ImportPlan(
                file, for: app, isOneOfSeveral: target.isOneOfSeveral, now: clock.now)
            report.expired += plan.expired
            report.problems += plan.problems
            let taken = try await keep(plan, of: client, apps, &report)
            if taken.leftOut > 0 {
                report.problems.append(
                    "\(taken.leftOut) of the accounts are left out: \(app.name) has reached the limit for one app.")
            }
            for name in taken.signedOut.sorted() {
                report.problems.append("\(name) has signed out of \(app.name), and is left so.")
            }
        }
        if chosen == nil { report.unregistered = Self.unregistered(file, targets) }
        return report
    }

    /// An app in one of its clouds.
    private struct ImportTarget {
        var app: AppRegistration
        var isOneOfSeveral: Bool

        func takes(_ token: UnifiedCache.Credential) -> Bool {
            app.clientID.isExactly(token.clientID)
                && ImportPlan.isEnvironment(token.environment, of: app.authority, isOneOfSeveral: isOneOfSeveral)
        }
    }

    /// The app, once more for each other cloud that its people may be at home in.
    private func inItsClouds(_ app: AppRegistration) -> [ImportTarget] {
        let others = CloudRules.clouds(of: app, isInstanceAware: app.isInstanceAware, in: settings.clouds).sorted()
        return ([app.authority] + others.map(app.authority.cloud)).map { place in
            var there = app
            there.authority = place
            return ImportTarget(app: there, isOneOfSeveral: !others.isEmpty)
        }
    }

    private func keep(
        _ plan: ImportPlan, of client: ClientKey, _ apps: [AppRegistration], _ report: inout CacheImportReport
    ) async throws(BrokerError) -> ImportPlan.NewRecords {
        let vault = cache.vault
        let (taken, isPersisted) = try await cache.write(in: client.partition) { index throws(VaultError) in
            let news = try plan.newRecords(for: client, of: apps, in: index, sealedBy: vault)
            return (news.change, news)
        }
        report.add(taken)
        try cache.requirePersisted(
            isPersisted || taken.change.isEmpty,
            orTell: "The imported tokens are in memory, but the disk did not take them; make room and import again.")
        for case .account(.put(let account)) in taken.change.rows {
            throttle.clear(.init(account.record), of: account.record.group, in: client.partition)
        }
        return taken
    }

    /// Clients whose refresh tokens no app takes.
    private static func unregistered(_ cache: UnifiedCache, _ targets: [ImportTarget]) -> [UnregisteredClient] {
        var found: [UnregisteredClient] = []
        for token in cache.refreshTokens {
            guard !targets.contains(where: { $0.takes(token) }),
                !found.contains(where: { $0.clientID.isExactly(token.clientID) })
            else { continue }
            let tenant = cache.accounts.first { $0.homeAccountID == token.homeAccountID }?.realm ?? ""
            found.append(
                UnregisteredClient(
                    clientID: token.clientID, environment: token.environment,
                    authority: "https://\(token.environment)" + (tenant.isEmpty ? "" : "/\(tenant)")))
        }
        return found
    }
}

extension CacheImportReport {
    fileprivate mutating func add(_ news: ImportPlan.NewRecords) {
        older += news.older
        for row in news.change.rows {
            switch row {
            case .account(.put): accounts += 1
            case .refreshToken(.put(let token)) where token.record.familyID == nil: refreshTokens += 1
            case .refreshToken(.put): familyRefreshTokens += 1
            case .accessToken(.put): accessTokens += 1
            case .idToken(.put): idTokens += 1
            case .appMetadata(.put): appMetadata += 1
            default: break
            }
        }
    }
}
