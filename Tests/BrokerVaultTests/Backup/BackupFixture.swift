/// Backups as earlier versions of the broker wrote them, which every later one reads. Never written anew.
enum BackupFixture {
    /// Format 1, with the passphrase `correct horse`: the apps `mail`, `agenda` and `notes` (the last with the secret `hush-hush`),
    /// and of ada@example.org a refresh token, one of a family, an ID token and the sign-out of `agenda`.
    static let version1 = """
        dG9rZW4tYnJva2VyLWJhawEAAAABAwAAAAAAABAQAAAAO36jdgCHW8b5AisdZmSFkkW4WDrstrhVWgCA2DMVbzJT9NoUQ4Gg/7yVdAooNGblWT\
        BL39hauiWnssjxpx4ilRPh4uQ44RM/JQgAAB7JueEfmm199EdvEmivKH9eDZDCv2WPb6NtY6IUCK7qtyJwSCV0mK6HXNx6b+kSBwT5iHiV39J0\
        MbYTUbO2Y2s0r8BJZv+9DTJANtaNxpU303C/Exz1/jU1o1ikvbjB9pJ6Bh0MnERP3C6irKLrAc0K7RREy2//W1JCWdhXCshnA/pKU+7Atey323\
        d6h15gi/rXyPbldkZUd1mGT44dCIIO+qqca/yn241M01vXUA0X9Vc3hUFQWVgChGeXEEl2yv7e+0h7LeSaAPOfndK3IZbI8pLXsPfl++2G9a6H\
        RHrv4nkepEyCEyDvRKnmUQecI2rjKN0OotCP10SisS+NDAGOYMIL0Kreru+/mLx1qrQbMSsZZPGVdmuO46EBjZPhXqmJLS82lw8n9WswYZxAXi\
        1bx5RMOXaaduA9FGcnpMlYhaxQTom5n1lZoy324jEv6RKMgPN0MXcNDrm2Ap+JIL0BbtpTW8LWCUcYOzBbLasSUW+6o7ktqAeBHwwICHo5GITe\
        5jkk7SZZx9wrPjuoP78SFhXyb2ktSHAjlqqKYxFbhU64r2d5yIMgPj8QwM5ertVuejQjMHzQy9uBCK+/B1aAN68pSTncQgu8wT7QPeEVy3N1H6\
        bnqj4Ipt+4CDqww8C9po5YF6o8Aqkwai8ga1rEh5JQPIfvMEZiHQ672XvRIK+ecCZDGNdQ+e00C58lbeHgmkna1sxCOpEVBusvE4WfDt5OoGur\
        KZzM3OUzoV93NyIYut5D1OPaAFByx3N3ZvWFcsgve7w6dSsqscLspQTeAI7Xb3IEn4LN2sdggAyO3EZeP/NVgqZI4cv+nZljihmsfgz6oaSoYM\
        svENm5zoxCaciCGGUvg3NdNd4Sql5YdmVCeSE5z35hyA4INz3Xc1hTXTZ4ziVUkUTsvPGCmDD0VtQNCPPER2RN7XPOh484R/nDuY6GaaI9kOwb\
        cG9dNWssL7NN01WS6z/3QnkAhYX8Tn4cziLQgyjmbtrVF0wBTFg5fKbe9jXcj01Qjofy8mFARjl1ELO3IBpvyiZd8aO929JtZ3WtTw2CN6fe12\
        Y9ksliSwzzHhjQTfQnvGmeOJidPt+ntpQH0qBzfw4X3LnZzmkDwsPa1bDSHFEfwrzR7YyPT+54HXAvsomZcnfPpdtUycnd8u5OSrxF7iXTgUhR\
        Etp3E4uEcM9pYM6ykL43JwFzeI0cfRPNocB8wvUYalrZAaQvAOOXKYxLVfExbUDxAgk5eL/q4a3SFgTY4fbQLviOcLIZd2Qy72EzlGPr3t3DV0\
        loneaH85aZZS0Hj1+IQWxRUNMeLbnk84zuUmuoB0elJGuaENhV411MI9M7UqH5wfQCBOvWyK+kHzAtUdHz+JMbay2VdQOJ6QXKZSvlE9s5yAIn\
        N7ctgE+6j94yw48zG7xc2mqYwWqtbb0u8nyhQfe32M/460jHmKIClqFqJ+sX1LMVdEEYgDANtZ3zjFuUamOnFQS85BOgQhvn35OOyF1BcFz3jf\
        FzXrEsvWmnJBZgxxgHaURY5CDaQ7M8y+6pvWCcBFDu4LfOvKrQqQgiRkYaJZZQqgf/GLTzv1wJE8vyYmdkw3RoHEisupqWDPULBNHH4zBo/CSC\
        1gffWjWSw0yDbnLvkY6tIYp1saXHJXNx3H5LPPFkyYETL8pdH7Easq0kNoPqgOqO/KO7qxWGGbbfz5QPx3QX7C78PdH2df0EgmAUgOUwArbESV\
        aU9XQKqe48nOSxDW+YRoz3jONLl+p2C93KYr2MmekZWDcUgfXjgaFidK9+gAlUX0fi7G4l9njqZng6MxikDgqog7S91fBVTaozQOXNnx5/6NJU\
        XUtZN8nklT7NONVs3+CaRQjAlJJUjX1rjlkl10ITqV0ZiDPuyqQTpQgFNToPn5qNvGR9m/zBfPd+Wg3J+tB95gzFr0dJfNNcGChqq1zejNoJye\
        zLx+PWQQ3dROpo8P8jm4vht2TGDG1qsku9ftxAsqRBphkSrfbqQUv+9MSz7AVhnGJ7ZNF5jQIAjOPwP1z+do899VGyANNy8xDR/BW4i0Qw/xBQ\
        2USNGXlsBSNzk+L7m7GrkZ7iVfmrQWzYpxgQxwj+Kj04yWypYbDLcZUrQBB7rWBrEmP5ZLVVTM1CB64p754d6J617IODz88PCyHHXtiwMvISb8\
        s/YrLHVNqReo8sHKYXwzonkvHu/60462+45Z6I6cxBHr3c9pDJOxQh4teHj+zDSH9wMWq74qslInfAmX9gGZxdy4EvTT9S9y5IVcuvINvTIeVl\
        iV4p6nCU1QjP5CN6KcZyEV4GXjkv2ffEslJaCKhWSSaojV8yF2ZoH4/odmoLjZkLpNH396p2KzR1VIzb73OeX9V+i0ZJycxE7eI42lFRSxMFdr\
        Xh3u2uQBWa5IfuG68+QIDqWvSJrqOdnUdI/udyweX/G5kr+THyflP43Mp1ypqQCGmHHx0qqGpLnWVMno5zOG06f8DMty7ncGeUb8T7rSjZ/vqU\
        arZZ2HeRZyEvXx9sw+Mfucgxzzk7EVh9XMylNnamcv7t39G0hFCe+fuUpILoMwRp6ZZ5SVsti3sLLQU3c9MB3AgL3Xi2mjndn5HIG3NHKiHuI0\
        /XLsFHY1pMREvlLb9usfHI0CfzHMix/wkE7JG2dlaCda2x9cKxQlr0v0noDBxKqeaBJYoDAbSuloSc+BVlExG0gpjlfJQioDiKrtwbdRlpc9Ww\
        hvctpXp27wYvT4t8nxmQCj4DmU/hRsUjZItKoUrGt9+/MtPtrFNMbw1SMGsP8+0leQ==
        """
}
