extension WebURL {
    /// The part of the host that had to be registered, whose owner chooses the labels before it.
    ///
    /// Without a list of public suffixes this is a guess: the last two labels, or three if the last is a country's and the one
    /// before it is as short as `co` or `com`. So the full host is always shown next to it. Tenants of a shared suffix
    /// (`alice.github.io`) have one domain by this rule. An address, and a name without a dot, are their own.
    package var domain: String {
        let name = host.hasSuffix(".") ? host.dropLast() : host[...]
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        guard !host.hasPrefix("["), labels.last?.contains(where: \.isLetter) == true, labels.count > 2 else {
            return host
        }
        let isBelowCountry = labels[labels.count - 1].utf8.count == 2 && labels[labels.count - 2].utf8.count <= 3
        return labels.suffix(isBelowCountry ? 3 : 2).joined(separator: ".")
    }
}
