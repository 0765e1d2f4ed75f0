/// The style of the page. Changing the sheet changes the hash; a test says what it must be.
package enum PageStyle {
    /// SHA-256 of ``sheet``, base64.
    package static let hash = "dmKSehNcozGME9UsENCNoK5iFUMisCQHxz3pqNGuIhI="

    /// Colours keep a contrast of at least 4.5 to 1 for text and 3 to 1 for signs, in both schemes (WCAG 2.2, 1.4.3 and
    /// 1.4.11); sizes are relative, so that zoom and a larger standard font work.
    package static let sheet = """
        :root {
          color-scheme: light dark;
          --page: #eef1f5; --card: #ffffff; --edge: #d9dfe7; --ink: #151a21; --soft: #4d5766; --fill: #f4f6f9;
          --shadow: 0 1px 2px rgb(16 24 40 / .06), 0 12px 32px -8px rgb(16 24 40 / .16);
          --good: #16794a; --neutral: #5b6472; --bad: #b3261e; --lost: #2b5fa8;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --page: #0e1116; --card: #171b22; --edge: #2b323d; --ink: #f0f3f7; --soft: #aab4c2; --fill: #1f252e;
            --shadow: 0 12px 40px -8px rgb(0 0 0 / .6);
            --good: #4cc38a; --neutral: #9aa5b4; --bad: #ff8a80; --lost: #82b1ff;
          }
        }
        *, ::before, ::after { box-sizing: border-box; }
        html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
        body {
          margin: 0; min-height: 100vh; min-height: 100dvh; padding: 1.25rem;
          display: grid; grid-template-rows: 1fr auto; justify-items: center; align-items: center; gap: 1.25rem;
          color: var(--ink);
          background: radial-gradient(60rem 32rem at 50% -12rem, color-mix(in srgb, var(--tone) 16%, transparent), transparent) no-repeat var(--page);
          font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", Cantarell, Ubuntu, "DejaVu Sans", sans-serif;
        }
        .good { --tone: var(--good); } .neutral { --tone: var(--neutral); }
        .bad { --tone: var(--bad); } .lost { --tone: var(--lost); }
        main {
          width: 100%; max-width: 27rem; padding: clamp(1.75rem, 7vw, 3rem) clamp(1.25rem, 6vw, 2.75rem);
          background: var(--card); border: 1px solid var(--edge); border-radius: 1.25rem; box-shadow: var(--shadow);
          text-align: center; overflow-wrap: anywhere;
        }
        .icon { display: block; width: 4.5rem; height: 4.5rem; margin: 0 auto 1.5rem; color: var(--tone); }
        .disc { fill: currentColor; fill-opacity: .13; stroke: currentColor; stroke-opacity: .35; stroke-width: 1.5; }
        .mark { fill: none; stroke: currentColor; stroke-width: 4.5; stroke-linecap: round; stroke-linejoin: round; }
        h1 { margin: 0 0 .75rem; font-size: clamp(1.375rem, 5.5vw, 1.75rem); line-height: 1.25; font-weight: 650; letter-spacing: -.012em; text-wrap: balance; }
        p { margin: 0; }
        .line { color: var(--soft); margin-bottom: 1rem; text-wrap: pretty; }
        .account {
          display: flex; align-items: center; gap: .75rem; margin: 1.25rem 0 1.5rem; padding: .75rem 1rem;
          background: var(--fill); border: 1px solid var(--edge); border-radius: .875rem; text-align: start;
        }
        .initial {
          flex: none; display: grid; place-items: center; width: 2.5rem; height: 2.5rem; border-radius: 50%; overflow: hidden;
          background: var(--tone); color: var(--card); font-weight: 650; font-size: 1.125rem; line-height: 1;
        }
        .who { min-width: 0; line-height: 1.35; font-weight: 550; }
        .label { display: block; color: var(--soft); font-size: .8125rem; font-weight: 400; }
        .next { text-wrap: balance; }
        .next bdi { display: inline-block; max-width: 100%; font-weight: 600; }
        footer { color: var(--soft); font-size: .8125rem; text-align: center; }
        @media (prefers-reduced-motion: no-preference) {
          main { animation: rise .35s cubic-bezier(.2, .7, .3, 1) both; }
          .mark { stroke-dasharray: 60; animation: draw .5s .15s ease-out both; }
          @keyframes rise { from { opacity: 0; transform: translateY(.5rem); } }
          @keyframes draw { from { stroke-dashoffset: 60; } to { stroke-dashoffset: 0; } }
        }
        @media (forced-colors: active) {
          .initial { border: 1px solid; }
        }
        """
}
