/// Backups of earlier versions of the broker, which every later one must read. Never regenerate them.
enum BackupFixture {
    /// Format 1, with the passphrase `correct horse`: the apps `mail`, `agenda` and `notes` (the last with the secret
    /// `hush-hush`), and for ada@example.org a refresh token, a family refresh token, an ID token and the sign-out of `agenda`.
    static let version1 = """
        dG9rZW4tYnJva2VyLWJhawEAAAABBAAAAAAAAAgQAAAAuyRBsUMV3KIPCWRUaQon887fiTwj6EAF0jNwpKuK59INoE9Bf4sGe7nlYPN9jdt1dl\
        1j5kmde+Lr0XcD7KOFm50fXg8JJrDFJQgAAIgfr0UfjtzqYT0sYa3plUBsdrNqEHafOS4NZIzruKLG4FM6mSqPYXij3IWOqwMDAWXQ5Ua1Wa0i\
        ngx+q9hoDVrlY9/zoe1RCheNqvrg5Qr4z1ZPzi5WjtPi/7Woj/8SPdxZVwwZjzTWeyHaeysjZt7SrJxJo6Bf0Byk77fRPJemz3jOOWHZBDpSaA\
        MhJKBn708L2FavIT+ihMXixV+WvqWZeffYjWXEc9hm+J2AxYcEEskQ3dwxEuOURjMSWjR9BnKMa82FaVTaLDC8N7E7XyBYx5+8937rPvgORl3W\
        52yZcRvURenO4SZaKskH+161L5wR0Hf5FFjfbFbTbHKIjD7GrWkO0lusigUtq4Xk2tqVLTt43AGQ9qyUFhQqAEtdUWbOrTLCoDL/aH0/ExViGD\
        VKysTpKEVRqL2+oxWrWVvdK4GTZ2tGMWWpDn9Dtnow9Vf92ePIUycKN4NfUlXfST3Ps1V0QIdLL8TGgHCEACMwxz4TNRoG634iuPg7TDbcYJK2\
        Tik+fDYqe6eKfJ3q2CU3Z3mvclbY+GNMn1N9iGRqB4vNWFEtCrUweP/BBLdnJv+2yKs/LqcFT6ZifPiNtjFcxuH+LkxbwsZXXcYIuVAxOlWVqb\
        9GfdTkLpPv9Gs2i0q9dlPDilgtSukJq+ryKi6B9wjhVpb5JwDLlkVzgmBWib70jrIa8AMmQr+asVDLP8j9gZWB7SVeHbOCLG9bNikJn9ge8vbj\
        88xvLcuMrj/ksJmAR9pPSSYjWJe+psZ1Kk9zCsHI4rTQ2rn63WLGmePRVKtBGQKmj+1zI5sB4cHOOY71Rz9sRmjnco3N/4sLHMdPzOOQ/DA3g6\
        NaOfIBXNSjc0P9wJ1PpMJrzVLSaOkMqpFQm0MIgFavnx8NhdFAELAbx6MFVjqbXgBem9GWvGDq7ZWrHlFwj2X5+hE4KOXIHE29MeXv2IlEZi9o\
        3G5Fc9o3KiMpkKKqDrhY6PWwMdh6B8dL/DgigOzquxlEQFlJUYGdmeW9CzxddEEgvfpoGncmEc6LmEkLQ0MnQbjqV956geOwduWbjs3tuHuCOq\
        Ed2GXidiNGFNjkYyvF4pRXBSSxl57Vt0um5f+vP9/1ha9A4Yb9LzygGQeDjazIu2jptrkrcKzAQUT5gaYXsLrIIw9WsWDNAJs0tqRlCMnjRn5k\
        VsBrq1g6yTfU/afQQ2DSAyCoKzJu5OVmS5SGiPZV1kBsthNyADPzREaZ3tYBXlQTrgGvogAqvxMxtUiSrUBihv7DaUkemWq/5SnL6wprSUTR6V\
        2MUbQu5s1gNfOhOY1eTk91sAaWSuR15iwHInRA7BakZSWd4xkHtAycQCLvRIRcxZfx+tUEi0INh5htARZvP6W7haX9cnM/+BJRxIkK7Xa8lH+m\
        7GhucH68aRys/uNudg4HgVSfKFRBWE34Ic41GWwnF9KOYFC2RNy906mDKhJJfB/Ro3P9kccLnhhEalM1mV2AGt6jUcp0PPPtGsMRZxEYeP1WJt\
        agcHYCqvm1vpMfy6okXfSO+qZApWQfwdlFbGHcSwWH3xoL1nYYCwvI13uJU2WeqLTDW4EnD6rCobOoPSbYKMeVzJRgmdm2YdfBx/KX7LtNf58x\
        vGNxNoT2bD5PsvZZ9A7er/HEIbFM0vmCetNNd9vyhnKEtdOfZsDfrMqJd1KAIuIT/u4Lrj53JGeXJtTBksLkK5ixS9n4lANsGlDt7pocEvGy0L\
        uY7AWQLMLaOuXSNcn2GfgK/JmE66g2S5NLxdfAnNqZrF33I1Y1KMXvgvz68HdZUdyA17eRliCZfH6I8/npXkD5IzloG17Zt7fbvyULpxSf9nd1\
        OXz961TehkczS83DRTgW1AhcPDpH9X8kFkCbvCM3KDFPj4j4yAPlaLjj/9msx5TUcNeTEGZWm6okMOLPMqrmxxTJX/DmDhMO7vkyQXG6kOYreL\
        8xF0nwZqmdmyzzsk8SozH1PQd7V64onfbuQuRSXprNg7v5N68X+DXkBxx1dFg6GTXVeCiKI92BWCNDhf5/H350dhx3nY3/TbkoejQw9DL2lE91\
        hJgdNznIFRuYfttGdTnXLNw9lbaTlXwuIYh2KbqvYkrYuL4aASomyVillgNDKCi73WCHrh4RewlXn2gUbgkawPL36i3kgh45eYLUvufug24HBN\
        7q9eorhwTDDzG9v5ngcKzQh/3mfGR54iaEjeYsMi5hx0/s/Lm4v2YnkEaKG6WxsGSCgLThsw1hp4XhwCQ1RrwbnTw6hptKc4lJE4vof008lRIG\
        TuegxPWW1IGdWquViqbeQhHiK8IFXvLp4ep2JzTzh6Grhsm5zTS6Sao3CoJSz1/RneZVoEvoc8C+WzNQTLRHlMD5Dba5I8isoCSHo1HZ1akoLg\
        WWaPIFmWbRhQq51Foxy65WShFbUbc5w8rfRQshBJNc/6jyUDwWnTD5I9kpE2jfC9x8A7DgNv1obo0kP7JbxdQuyoPJHdb2pDG2N0K4Iesxac2E\
        Eow3A+drgYHUjP/p1sVgwMTVPbK/Ha5rpgnMxeH3qVpeq5kS3XcVSUg3z3q+dw8sgO7FUCtkY+OExwVeDeGAo6rBuWX9NnTjKyyyrV12A+Pfyu\
        P9JTUDDJ3iWRK6qf+NPBCySQJg4Ih7y0BGNXizNWlt0MdGKsYqDMuiXjqeWjJ/tpMvOGBDz7Fbwe68YlxDw7Uaz1iFlhPhev9QPuM6IQ9Tcjb/\
        iMJvjZ/uiCFpNxucet1HGx4Aok/MwbfibrzAdZwthJf/KXa1Y/BmCrIM7DbYJRoTGA==
        """
}
