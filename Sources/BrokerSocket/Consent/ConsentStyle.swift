/// How the question looks, beside ``PageStyle``. Whoever changes the sheet changes the hash; a test says what it must be.
package enum ConsentStyle {
    /// SHA-256 of ``sheet``, base64.
    package static let hash = "F/7nxCT/8loTWBSKFHh5pPylvsr+NhNTEPVXWFEoXvM="

    package static let sheet = """
        .caller { display: block; font-weight: 650; font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .9375rem; }
        .known { color: var(--soft); font-size: .875rem; margin: .25rem 0 0; }
        .box {
          margin: 1.25rem 0; padding: .875rem 1rem; text-align: start;
          background: var(--fill); border: 1px solid var(--edge); border-radius: .875rem;
        }
        .requests { margin: 0; padding: 0; list-style: none; }
        .requests li + li { margin-top: .75rem; padding-top: .75rem; border-top: 1px solid var(--edge); }
        .requests b { font-weight: 600; }
        .scopes { display: block; color: var(--soft); font-size: .875rem; }
        fieldset { margin: 0 0 1.25rem; padding: 0; border: 0; text-align: start; }
        legend { padding: 0 0 .375rem; color: var(--soft); font-size: .8125rem; }
        fieldset label { display: flex; gap: .625rem; align-items: center; padding: .3125rem 0; }
        input { accent-color: var(--tone); width: 1.125rem; height: 1.125rem; margin: 0; flex: none; }
        .choice { display: grid; grid-template-columns: 1fr 1fr; gap: .75rem; }
        button {
          padding: .75rem 1rem; border: 1px solid var(--edge); border-radius: .75rem; cursor: pointer;
          font: inherit; font-weight: 600; color: var(--ink); background: var(--fill);
        }
        button:hover { border-color: var(--tone); }
        button:focus-visible, input:focus-visible, summary:focus-visible { outline: 3px solid var(--tone); outline-offset: 2px; }
        details { margin-top: 1.25rem; text-align: start; font-size: .8125rem; color: var(--soft); }
        summary { cursor: pointer; }
        dl { display: grid; grid-template-columns: auto 1fr; gap: .25rem .75rem; margin: .75rem 0 0; }
        dt { font-weight: 550; } dd { margin: 0; }
        """
}
