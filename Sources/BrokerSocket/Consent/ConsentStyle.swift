/// The style of the question, in addition to ``PageStyle``. Changing the sheet changes the hash; a test says what it must be.
package enum ConsentStyle {
    /// SHA-256 of ``sheet``, base64.
    package static let hash = "QV+rQ0mclIvP7dJNaG4XHalcaSOgYnf55wvpX9lnqLE="

    /// Buttons have a border of at least 3 to 1. Spaces next to words are bounded by the window, so that large letters have room
    /// on a telephone; elements that do not fit next to each other wrap.
    package static let sheet = """
        .asked { --tone: var(--lost); --rim: #6b7686; }
        @media (prefers-color-scheme: dark) { .asked { --rim: #8793a4; } }
        body { padding: min(1.25rem, 4vw); }
        main { padding-inline: min(2.75rem, 6vw); overflow-wrap: break-word; }
        bdi { overflow-wrap: anywhere; }
        .caller { display: block; font-weight: 650; font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .9375rem; }
        .known { color: var(--soft); font-size: .875rem; margin: .25rem 0 0; }
        .box {
          margin: 1.25rem 0; padding: .875rem min(1rem, 4vw); text-align: start;
          background: var(--fill); border: 1px solid var(--edge); border-radius: .875rem;
        }
        .requests { margin: 0; padding: 0; list-style: none; }
        .requests li + li { margin-top: .75rem; padding-top: .75rem; border-top: 1px solid var(--edge); }
        .requests b { font-weight: 600; }
        .whose { display: block; margin-top: .25rem; }
        .whose bdi { display: inline-block; max-width: 100%; }
        .scopes { display: block; margin-top: .25rem; color: var(--soft); font-size: .875rem; }
        fieldset { min-width: 0; margin: 0 0 1.25rem; padding: 0; border: 0; text-align: start; }
        legend { padding: 0 0 .375rem; color: var(--soft); font-size: .8125rem; }
        fieldset label { display: flex; gap: .625rem; align-items: center; padding: .3125rem 0; }
        input {
          appearance: none; flex: none; width: 1.25rem; height: 1.25rem; margin: 0;
          background: var(--card); border: 2px solid var(--rim); border-radius: 50%;
        }
        input:checked { border: .375rem solid var(--tone); }
        .choice { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 7.5rem), 1fr)); gap: .75rem; }
        button {
          display: flex; gap: .5rem; align-items: center; justify-content: center; padding: .75rem min(1rem, 4vw);
          border: 2px solid var(--tone); border-radius: .75rem; cursor: pointer;
          font: inherit; font-weight: 600; color: var(--tone); background: var(--card);
        }
        button svg { flex: none; width: 1.25em; height: 1.25em; }
        .deny { border-color: var(--ink); color: var(--card); background: var(--ink); }
        button:hover { box-shadow: 0 0 0 2px var(--tone); }
        button:focus-visible, input:focus-visible, summary:focus-visible { outline: 3px solid var(--tone); outline-offset: 2px; }
        details { margin-top: 1.25rem; text-align: start; font-size: .8125rem; color: var(--soft); }
        summary { cursor: pointer; text-decoration: underline; }
        dl { margin: .75rem 0 0; }
        dt { font-weight: 550; } dd { margin: 0 0 .5rem; }
        """
}
