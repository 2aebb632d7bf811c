extension Asset {
    /// The styles of all pages.
    static let styleText = tokenText + frameText + tableText + objectText + historyText + diagramText

    /// Colours and type. The dark colours are those of the system's setting, or of the button.
    private static let tokenText = """
        :root {
          color-scheme: light;
          --ground: #ffffff; --raised: #f6f7f9; --hover: #f1f4f9; --lit: #e6edfb; --line: #e3e6eb; --faint: #eef0f3; --edge: #d0d7e1;
          --text: #1b1f27; --soft: #626b7a; --pale: #98a1b0;
          --accent: #2450c4; --good: #177245; --good-ground: #e4f4ea; --change: #8a5a00; --change-ground: #fbf0da;
          --bad: #b3261e; --bad-ground: #fdecea; --link-ground: #ebe9fb; --link: #5140b3;
          --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", "Liberation Sans", sans-serif;
          --mono: ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, "DejaVu Sans Mono", monospace;
        }
        @media (prefers-color-scheme: dark) { :root:not([data-theme=light]) { \(darkText) } }
        :root[data-theme=dark] { \(darkText) }

        """

    private static let darkText = """
        color-scheme: dark; --ground: #14171c; --raised: #1a1e25; --hover: #1f242d; --lit: #22304f; --line: #2c323c; --faint: #232831; --edge: #3b4452;
          --text: #e4e7ed; --soft: #9aa4b4; --pale: #6c7686; --accent: #8ab0ff; --good: #6cd39a; --good-ground: #163325;
          --change: #e3b660; --change-ground: #3a2d12; --bad: #ff8f86; --bad-ground: #431e1c; --link-ground: #2a2650; --link: #b3a8ff;
        """

    private static let frameText = """
        * { box-sizing: border-box; }
        html { font: 14px/1.5 var(--sans); color: var(--text); background: var(--ground); -webkit-text-size-adjust: 100%; }
        body { margin: 0; min-height: 100vh; display: flex; flex-direction: column; }
        a { color: var(--accent); text-decoration: none; }
        a:hover { text-decoration: underline; text-underline-offset: 2px; }
        :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
        main:focus { outline: none; }
        h1 { font-size: 21px; line-height: 1.3; font-weight: 650; letter-spacing: -0.01em; margin: 0; overflow-wrap: anywhere; }
        h2 { font-size: 13px; font-weight: 650; margin: 0; }
        .mono, kbd, pre { font-family: var(--mono); font-size: 12px; font-variant-ligatures: none; }
        .soft { color: var(--soft); } .dot { color: var(--pale); }
        .skip { position: absolute; left: -999px; } .skip:focus { left: 8px; top: 8px; z-index: 9; background: var(--ground); padding: 6px; }
        .bar { display: flex; align-items: center; gap: 8px; height: 48px; padding: 0 16px; border-bottom: 1px solid var(--line);
          background: var(--ground); position: sticky; top: 0; z-index: 5; }
        .store { display: flex; align-items: center; gap: 9px; min-width: 0; color: inherit; font-weight: 650; margin-right: 12px; }
        .store:hover { text-decoration: none; } .store img { flex: none; }
        .store-name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; max-width: 34vw; }
        .bar nav { display: flex; gap: 2px; flex: 1; }
        .bar nav a { color: var(--soft); padding: 5px 10px; border-radius: 6px; font-weight: 500; }
        .bar nav a:hover { background: var(--hover); color: var(--text); text-decoration: none; }
        .bar nav a[aria-current] { color: var(--text); background: var(--faint); }
        .read-only { color: var(--soft); font-size: 12px; border: 1px solid var(--line); border-radius: 20px; padding: 1px 9px; white-space: nowrap; }
        .tool { font: inherit; font-weight: 600; color: var(--soft); background: none; border: 0; width: 30px; height: 30px; border-radius: 6px;
          cursor: pointer; display: grid; place-items: center; }
        .tool:hover { background: var(--hover); color: var(--text); }
        .tool svg { fill: currentColor; } .tool .ring { fill: none; stroke: currentColor; stroke-width: 1.4; }
        .columns { flex: 1; display: grid; grid-template-columns: 216px minmax(0, 1fr); align-items: stretch; }
        .entities { border-right: 1px solid var(--line); background: var(--raised); padding: 18px 10px; position: sticky; top: 48px;
          height: calc(100vh - 48px); overflow: auto; }
        .entities h2 { color: var(--soft); font-size: 12px; padding: 0 10px 8px; }
        .entities ul { list-style: none; margin: 0; padding: 0; }
        .entities a { display: block; padding: 3px 10px; border-radius: 6px; color: var(--text); overflow: hidden; text-overflow: ellipsis;
          white-space: nowrap; }
        .entities a:hover { background: var(--hover); text-decoration: none; }
        .entities a[aria-current] { background: var(--lit); color: var(--accent); font-weight: 600; }
        .entities .level1 { padding-left: 14px; } .entities .level2 { padding-left: 28px; } .entities .level3 { padding-left: 42px; }
        .entities .level4 { padding-left: 56px; }
        main { padding: 22px 28px 48px; min-width: 0; }
        .head { display: flex; align-items: baseline; gap: 10px; flex-wrap: wrap; margin-bottom: 14px; }
        .facts { color: var(--soft); margin: 0 0 18px; font-size: 13px; overflow-wrap: anywhere; }
        .nothing { color: var(--soft); padding: 28px 0; }
        .plain { display: inline-block; font: inherit; font-weight: 550; color: var(--text); background: var(--ground); border: 1px solid var(--line);
          border-radius: 7px; padding: 5px 13px; cursor: pointer; margin-right: 8px; }
        .plain:hover { background: var(--hover); text-decoration: none; }
        .problem { max-width: 62ch; padding-top: 6vh; } .problem p { color: var(--soft); } .problem h1 { margin-bottom: 6px; }
        .remarks { margin: 0 0 18px; color: var(--soft); } .remarks summary { cursor: pointer; } .remarks ul { padding-left: 22px; }
        dialog { color: inherit; background: var(--ground); border: 1px solid var(--line); border-radius: 12px; padding: 20px 24px; min-width: 340px;
          box-shadow: 0 18px 60px rgb(0 0 0 / 28%); }
        dialog::backdrop { background: rgb(10 14 22 / 38%); }
        dialog h2 { font-size: 15px; margin-bottom: 10px; }
        dialog dl { margin: 0 0 16px; } dialog dl div { display: grid; grid-template-columns: 130px 1fr; padding: 4px 0; }
        dialog dd { margin: 0; color: var(--soft); }
        kbd { background: var(--raised); border: 1px solid var(--line); border-bottom-width: 2px; border-radius: 5px; padding: 1px 6px; }
        @media (max-width: 820px) {
          .columns { grid-template-columns: minmax(0, 1fr); }
          .entities { position: static; height: auto; max-height: 30vh; border-right: 0; border-bottom: 1px solid var(--line); padding: 10px; }
          main { padding: 16px; } .read-only { display: none; }
        }
        @media print { .bar, .entities, .pager, .filter { display: none; } .columns { display: block; } }

        """

    private static let tableText = """
        .scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: 9px; }
        table.rows { border-collapse: separate; border-spacing: 0; width: 100%; }
        .rows th { text-align: left; font-size: 12px; font-weight: 600; color: var(--soft); background: var(--raised); white-space: nowrap;
          padding: 7px 14px; border-bottom: 1px solid var(--line); }
        .rows th a { color: inherit; } .rows th a:hover { color: var(--text); text-decoration: none; }
        .rows th[aria-sort] { color: var(--text); }
        .rows th[aria-sort] a::after { content: " ↑"; color: var(--accent); } .rows th[aria-sort=descending] a::after { content: " ↓"; }
        .rows td { padding: 6px 14px; border-bottom: 1px solid var(--faint); vertical-align: baseline; }
        .rows tr:last-child td { border-bottom: 0; }
        .rows.data td { white-space: nowrap; max-width: 340px; overflow: hidden; text-overflow: ellipsis; unicode-bidi: isolate; }
        .rows tbody tr:hover td { background: var(--hover); }
        .rows tbody tr.is-current td { background: var(--lit); }
        .rows tbody tr.is-current td:first-child { box-shadow: inset 3px 0 0 var(--accent); }
        .rows .number { text-align: right; font-variant-numeric: tabular-nums; }
        .rows td.key a, .key { font-variant-numeric: tabular-nums; }
        .rows td.level1 { padding-left: 32px; } .rows td.level2 { padding-left: 50px; } .rows td.level3 { padding-left: 68px; }
        .rows td.level4 { padding-left: 86px; }
        .summary th:last-child { width: 45%; }
        .note { margin-left: auto; font-size: 12px; }
        .rows time { font-variant-numeric: tabular-nums; }
        .rows a.open { font-weight: 550; }
        .absent { background: repeating-linear-gradient(-45deg, transparent 0 5px, var(--faint) 5px 6px); }
        .tag { font-size: 11px; color: var(--soft); border: 1px solid var(--line); border-radius: 20px; padding: 0 7px; margin-left: 6px; }
        .null { color: var(--pale); font-style: italic; } .empty { color: var(--pale); font-family: var(--mono); font-size: 12px; }
        .cut, .size { color: var(--pale); } .size { font-size: 12px; } .data .mono { color: var(--soft); }
        .bad { color: var(--bad); text-decoration: underline dotted; text-underline-offset: 3px; }
        .object .key { color: var(--pale); font-size: 12px; margin-left: 3px; }
        .filter { display: flex; flex-wrap: wrap; gap: 8px; margin-bottom: 12px; position: relative; }
        .filter .plain { margin: 0; }
        .filter input:not([type=hidden]) { flex: 1; min-width: 200px; font: 13px/1.4 var(--mono); font-variant-ligatures: none; color: inherit; background: var(--ground);
          border: 1px solid var(--line); border-radius: 7px; padding: 7px 12px; }
        .filter input::placeholder { color: var(--pale); opacity: 1; }
        .filter input:focus { outline: 2px solid var(--accent); outline-offset: -1px; }
        .filter input[aria-invalid] { border-color: var(--bad); }
        .filter .clear { align-self: center; color: var(--soft); padding: 0 4px; }
        .refusal { flex-basis: 100%; margin: 2px 0 0; color: var(--bad); background: var(--bad-ground); border-radius: 7px; padding: 8px 12px;
          overflow-wrap: anywhere; }
        .pager { display: flex; align-items: center; justify-content: space-between; color: var(--soft); margin: 10px 2px;
          font-variant-numeric: tabular-nums; }
        .pager b { color: var(--text); font-weight: 600; }
        .pages { display: inline-flex; gap: 2px; }
        .page { display: grid; place-items: center; width: 30px; height: 28px; border-radius: 6px; font-size: 17px; line-height: 1; color: var(--text); }
        a.page:hover { background: var(--hover); text-decoration: none; } span.page { color: var(--line); }

        """

    private static let objectText = """
        .object-head { margin-bottom: 18px; } .object-head .path { flex-basis: 100%; margin: 0 0 -4px; color: var(--soft); font-size: 13px; }
        .key.big { color: var(--pale); font-size: 15px; } .object-head .pages { margin-left: auto; }
        .properties { margin: 0 0 26px; border: 1px solid var(--line); border-radius: 9px; overflow: hidden; }
        .properties > div { display: grid; grid-template-columns: 232px minmax(0, 1fr); border-bottom: 1px solid var(--faint); }
        .properties > div:last-child { border-bottom: 0; }
        .properties dt { padding: 8px 14px; font-weight: 550; background: var(--raised); overflow-wrap: anywhere; }
        .properties dd { margin: 0; padding: 8px 16px; unicode-bidi: isolate; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
        .type { font-size: 12px; font-weight: 400; color: var(--pale); margin-left: 8px; white-space: nowrap; }
        .text { white-space: pre-wrap; } .more { white-space: nowrap; }
        .related { margin-bottom: 22px; } .related h2 { display: flex; align-items: baseline; margin-bottom: 7px; font-size: 14px; }
        .related .count { font-size: 12px; font-weight: 600; background: var(--faint); color: var(--soft); border-radius: 20px; padding: 0 9px;
          margin-left: 8px; font-variant-numeric: tabular-nums; }
        .related ul { list-style: none; margin: 0; padding: 0; display: flex; flex-wrap: wrap; gap: 6px; }
        .related li a { display: block; border: 1px solid var(--line); border-radius: 7px; padding: 3px 10px; max-width: 320px; overflow: hidden;
          text-overflow: ellipsis; white-space: nowrap; }
        .related li a:hover { background: var(--hover); text-decoration: none; }
        .related li a.more { border-color: transparent; font-weight: 550; } .none { color: var(--pale); margin: 0; }
        pre.whole { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; border: 1px solid var(--line); border-radius: 9px; padding: 14px 16px;
          background: var(--raised); line-height: 1.6; unicode-bidi: isolate; }
        pre.bytes { white-space: pre; overflow-x: auto; }

        """

    private static let historyText = """
        .live { font-size: 12px; color: var(--soft); border-radius: 20px; padding: 1px 10px; background: var(--faint); }
        .live.on { color: var(--good); background: var(--good-ground); }
        .live.on::before { content: ""; display: inline-block; width: 7px; height: 7px; border-radius: 50%; background: currentColor; margin-right: 6px; }
        .live.off { color: var(--change); background: var(--change-ground); }
        .history { list-style: none; margin: 0 0 18px; padding: 0; border: 1px solid var(--line); border-radius: 9px; overflow: hidden; }
        .history:empty { display: none; }
        .history > li { display: grid; grid-template-columns: 190px minmax(0, 1fr); padding: 11px 16px; border-bottom: 1px solid var(--faint); }
        .history > li:last-child { border-bottom: 0; } .history > li.is-current { background: var(--lit); box-shadow: inset 3px 0 0 var(--accent); }
        .history > li.is-new { animation: arrive 2.4s ease-out; }
        @keyframes arrive { from { background: var(--good-ground); } }
        @media (prefers-reduced-motion: reduce) { .history > li.is-new { animation: none; } }
        .when { font-variant-numeric: tabular-nums; color: var(--soft); } .when .position { display: block; font-size: 12px; color: var(--pale); }
        .author { font-weight: 600; }
        .changes { list-style: none; margin: 3px 0 0; padding: 0; } .changes li { padding: 2px 0; overflow-wrap: anywhere; }
        .kind { display: inline-block; min-width: 66px; text-align: center; font-size: 12px; border-radius: 5px; padding: 0 8px; margin-right: 5px; }
        .kind.insert { color: var(--good); background: var(--good-ground); } .kind.update { color: var(--change); background: var(--change-ground); }
        .kind.delete { color: var(--bad); background: var(--bad-ground); } .kind.links { color: var(--link); background: var(--link-ground); }
        .entity { color: var(--text); font-weight: 550; } .keys { font-variant-numeric: tabular-nums; margin-left: 6px; }
        .keys a { margin-right: 2px; } .gone { text-decoration: line-through; color: var(--soft); } .names { font-size: 12px; margin-left: 8px; }

        """

    private static let diagramText = """
        .drawing { overflow: auto; border: 1px solid var(--line); border-radius: 9px; background-color: var(--raised); }
        .legend { display: flex; flex-wrap: wrap; gap: 4px 20px; color: var(--soft); font-size: 12px; margin: 0 0 12px; }
        .legend span { display: inline-flex; align-items: center; gap: 7px; } .legend b { color: var(--text); font-weight: 600; }
        .legend path, .edge path { fill: none; stroke: var(--soft); stroke-width: 1.3; } .dashed, .edge.alone > path:first-of-type { stroke-dasharray: 4 3; }
        .legend .triangle, .edge .triangle { fill: var(--raised); }
        .diagram { display: block; font-family: var(--sans); font-size: 12.5px; }
        .diagram text { fill: var(--text); } .diagram .name { font-weight: 650; font-size: 13px; }
        .diagram .frame { fill: var(--ground); stroke: var(--edge); } .diagram .title { fill: var(--faint); stroke: none; }
        .diagram a:hover .title { fill: var(--lit); } .diagram a:hover { text-decoration: none; }
        .diagram .abstract .frame { stroke-dasharray: 5 4; } .diagram .abstract .name { font-style: italic; }
        .diagram .required { font-weight: 600; } .diagram .relation { fill: var(--accent); }
        .diagram .kind, .diagram .target { fill: var(--pale); text-anchor: end; font-size: 11.5px; } .diagram .kind.start { text-anchor: start; }
        .edge path { transition: stroke .12s; } .has-lit .edge:not(.is-lit) { opacity: .3; }
        .edge.is-lit path, .edge:hover path { stroke: var(--accent); stroke-width: 1.8; }

        """
}
