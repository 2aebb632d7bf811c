internal import PolystoreStorage

/// The parts that all pages have: the head, the bar at the top, the list of entities, and the help.
struct PageFrame {
    private let name: String
    private let kind: String
    private let schema: Schema
    private let path: [String]

    init(_ browser: StoreBrowser, _ request: PageRequest) {
        name = browser.name
        kind = browser.store.storeType
        schema = browser.store.schema
        path = request.path
    }

    /// Returns the answer with a page.
    func answer(_ title: String, _ content: HTML, status: Int = 200) -> StoreBrowser.Answer {
        StoreBrowser.Answer(
            """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(title) · \(name)</title>
            <link rel="icon" href="/icon.svg" type="image/svg+xml">
            <link rel="stylesheet" href="/style.css">
            <script src="/script.js"></script>
            </head>
            <body>
            <a class="skip" href="#content">Skip to the content</a>
            \(bar)
            <div class="columns">
            \(entities)
            <main id="content" tabindex="-1">
            \(content)
            </main>
            </div>
            \(Self.help)
            </body>
            </html>

            """, status: status)
    }

    private var bar: HTML {
        let links = [
            ("Overview", Address.overview, path.isEmpty), ("Schema", Address.schema, path.first == "schema"),
            ("History", Address.history, path.first == "history"),
        ]
        return """
            <header class="bar">
            <a class="store" href="/"><img src="/icon.svg" alt="" width="20" height="20"><span class="store-name" title="\(name)">\(name)</span></a>
            <nav aria-label="Pages">\(links.map { Self.link($0.0, $0.1, isCurrent: $0.2) })</nav>
            <span class="read-only">read only</span>
            <button type="button" class="tool" id="theme" title="Dark or light (t)" aria-label="Dark or light"><svg viewBox="0 0 16 16" \
            width="16" height="16" aria-hidden="true"><circle cx="8" cy="8" r="5.4" class="ring"/><path d="M8 2.6a5.4 5.4 0 0 1 0 10.8z"/></svg></button>
            <button type="button" class="tool" id="help-button" title="Keys (?)" aria-label="Keys">?</button>
            </header>
            """
    }

    private static func link(_ text: String, _ address: String, isCurrent: Bool) -> HTML {
        #"<a href="\#(address)"\#(current(isCurrent))>\#(text)</a>"#
    }

    private static func current(_ isCurrent: Bool) -> HTML { isCurrent ? #" aria-current="page""# : .nothing }

    private var entities: HTML {
        let shown = ["e", "o"].contains(path.first) && path.count > 1 ? path[1] : nil
        let items = EntityTree.items(schema).map { item -> HTML in
            let entity = schema[item.entity], level = min(item.level, 4)
            return
                #"<li class="level\#(level)"><a href="\#(Address.table(entity.name))"\#(Self.current(entity.name == shown))>\#(entity.name)</a></li>"#
        }
        return """
            <nav class="entities" aria-label="Entities"><h2>Entities</h2>
            <ul>\(items)</ul></nav>
            """
    }

    private static let help: HTML = """
        <dialog id="help" aria-label="Keys"><h2>Keys</h2>
        <dl>
        <div><dt><kbd>/</kbd></dt><dd>write a condition</dd></div>
        <div><dt><kbd>j</kbd> <kbd>k</kbd> or <kbd>↓</kbd> <kbd>↑</kbd></dt><dd>next or previous row</dd></div>
        <div><dt><kbd>Enter</kbd></dt><dd>open the row</dd></div>
        <div><dt><kbd>[</kbd> <kbd>]</kbd></dt><dd>previous or next page or object</dd></div>
        <div><dt><kbd>u</kbd></dt><dd>up: the table of an object, the overview</dd></div>
        <div><dt><kbd>g</kbd> <kbd>o</kbd></dt><dd>overview</dd></div>
        <div><dt><kbd>g</kbd> <kbd>s</kbd></dt><dd>schema</dd></div>
        <div><dt><kbd>g</kbd> <kbd>h</kbd></dt><dd>history</dd></div>
        <div><dt><kbd>t</kbd></dt><dd>dark or light</dd></div>
        <div><dt><kbd>?</kbd></dt><dd>these keys</dd></div>
        <div><dt><kbd>Esc</kbd></dt><dd>leave the field, or close</dd></div>
        </dl>
        <form method="dialog"><button class="plain">Close</button></form></dialog>
        """
}
