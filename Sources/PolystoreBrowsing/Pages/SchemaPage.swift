internal import PolystoreStorage

/// The model of the store as a diagram.
struct SchemaPage {
    private let schema: Schema

    init(_ schema: Schema) { self.schema = schema }

    func answer(_ frame: PageFrame) -> StoreBrowser.Answer {
        let relationships = schema.entities.reduce(0) { $0 + $1.relationships.count }
        let drawing: HTML =
            schema.entities.isEmpty
            ? #"<p class="nothing">The model of the store has no entities.</p>"#
            : #"<div class="drawing" tabindex="0">\#(SchemaDiagram(schema).svg)</div>"#
        return frame.answer(
            "Schema",
            """
            <div class="head"><h1>Schema</h1><span class="soft">\(Figures.counted(schema.entities.count, "entity", "entities"))\
             <span class="dot">·</span> \(Figures.counted(relationships, "relationship")) <span class="dot">·</span> version \(schema.version)</span></div>
            <p class="legend"><span><svg width="34" height="12" aria-hidden="true"><path d="M0 6H34M26 1V11"/></svg> one</span>\
            <span><svg width="34" height="12" aria-hidden="true"><path d="M0 6H23M34 1L23 6L34 11M23 6H34"/></svg> many</span>\
            <span><svg width="34" height="12" aria-hidden="true"><path class="dashed" d="M0 6H34"/></svg> without an inverse</span>\
            <span><svg width="34" height="12" aria-hidden="true"><path d="M0 6H23"/><path class="triangle" d="M34 6L23 1V11z"/></svg> is a</span>\
            <span><b>required</b></span></p>
            \(drawing)
            """)
    }
}
