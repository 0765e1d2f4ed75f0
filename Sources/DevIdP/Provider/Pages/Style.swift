extension Page {
    /// Light and dark follow the system; contrast is at least 4.5 to 1 in both.
    static let style = """
        :root{--ground:#eef1f6;--card:#fff;--ink:#1a2233;--soft:#525c70;--line:#8a93a6;--accent:#1d4fd8;--on:#fff;\
        --bad:#a3182c;--note:#fff3cd;--noteink:#5c4400}
        @media (prefers-color-scheme:dark){:root{--ground:#10141d;--card:#1a2030;--ink:#e9edf6;--soft:#a9b2c6;\
        --line:#6d7890;--accent:#8fb0ff;--on:#0b1530;--bad:#ff9aa8;--note:#3b3008;--noteink:#ffe49a}}
        *{box-sizing:border-box}
        body{margin:0;min-height:100vh;background:var(--ground);color:var(--ink);\
        font:1rem/1.5 system-ui,"Noto Sans",sans-serif}
        .notice{margin:0;padding:.6rem 1rem;text-align:center;background:var(--note);color:var(--noteink);\
        font-size:.875rem}
        main{width:min(26rem,calc(100% - 2rem));margin:clamp(1rem,9vh,6rem) auto;padding:2rem;border-radius:.9rem;\
        background:var(--card);box-shadow:0 .6rem 2rem rgb(10 20 50/.14)}
        h1{margin:0 0 .25rem;font-size:1.5rem;line-height:1.25}
        p{margin:.25rem 0 1rem;color:var(--soft)}
        label{display:block;margin:.9rem 0 .3rem;font-weight:600}
        label.choice{display:flex;gap:.6rem;align-items:center;font-weight:400;color:var(--ink)}
        input:not([type=checkbox]){width:100%;padding:.65rem .75rem;border:1px solid var(--line);border-radius:.5rem;\
        background:transparent;color:inherit;font:inherit}
        input[type=checkbox]{width:1.15rem;height:1.15rem;accent-color:var(--accent)}
        button{width:100%;margin-top:1rem;padding:.7rem 1rem;border:1px solid var(--accent);border-radius:.5rem;\
        background:var(--accent);color:var(--on);font:inherit;font-weight:600;cursor:pointer}
        button.plain{background:transparent;color:var(--accent)}
        button.person{display:block;text-align:left;background:transparent;color:inherit;border-color:var(--line)}
        button.person span{display:block;font-weight:400;color:var(--soft);font-size:.875rem}
        :focus-visible{outline:3px solid var(--accent);outline-offset:2px}
        .alert{padding:.6rem .8rem;border-left:4px solid var(--bad);color:var(--bad);font-weight:600}
        p.code{margin:.5rem 0 1rem;padding:.6rem;border:1px dashed var(--line);border-radius:.5rem;color:var(--ink);\
        text-align:center}
        .code{font:600 1.5rem/1.3 ui-monospace,"DejaVu Sans Mono",monospace;letter-spacing:.12em}
        input.code:not([type=checkbox]){font:600 1.5rem/1.3 ui-monospace,"DejaVu Sans Mono",monospace;\
        text-align:center;text-transform:uppercase}
        label.choice span{min-width:0;overflow-wrap:anywhere}
        fieldset{margin:1rem 0 0;padding:0;border:0}
        legend{font-weight:600;padding:0}
        """
}
