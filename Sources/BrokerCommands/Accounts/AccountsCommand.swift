struct AccountsCommand: Noun {
    static var about: About {
        About(
            "accounts", "List, show, remove, sign out and forget accounts, or choose a default.",
            """
            Examples:
              brokerctl accounts list
              brokerctl accounts sign-out ada@example.org
            """)
    }

    static var subcommands: [any Command.Type] {
        [
            ListAccountsCommand.self, ShowAccountCommand.self, RemoveAccountCommand.self, SignOutCommand.self,
            ForgetAccountCommand.self, DefaultAccountCommand.self,
        ]
    }
}
