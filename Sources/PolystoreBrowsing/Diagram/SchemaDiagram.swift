internal import PolystoreStorage

/// A schema as a drawing in SVG: entities as boxes, relationships and inheritance as lines.
struct SchemaDiagram {
    private let layout: DiagramLayout
    private let schema: Schema

    init(_ schema: Schema) {
        self.schema = schema
        layout = DiagramLayout(schema)
    }

    var svg: HTML {
        let lines = layout.edges.indices.map(line), boxes = layout.boxes.indices.map(box)
        return """
            <svg class="diagram" xmlns="http://www.w3.org/2000/svg" width="\(Self.number(layout.width))" height="\(Self.number(layout.height))" \
            viewBox="0 0 \(Self.number(layout.width)) \(Self.number(layout.height))" role="img" aria-label="The entities and relationships of the model">
            <g class="lines">\(lines)</g>
            \(boxes)</svg>
            """
    }

    private static func number(_ value: Double) -> String { String((value * 10).rounded() / 10) }

    private static func text(_ x: Double, _ y: Double, _ style: String, _ content: String) -> HTML {
        #"<text x="\#(number(x))" y="\#(number(y))" class="\#(style)">\#(content)</text>"#
    }

    // MARK: Boxes

    private func box(_ index: Int) -> HTML {
        let box = layout.boxes[index], (x, y) = layout.origin(index), width = layout.boxWidth(index)
        let name = schema.entities[box.entity].name
        let lines = box.lines.enumerated().map { position, line -> HTML in
            let middle = y + box.middle(ofLine: position) + 4
            return Self.text(x + 12, middle, line.isRelationship ? "relation" : line.isRequired ? "required" : "attribute", line.name)
                + Self.text(x + width - 12, middle, line.isRelationship ? "target" : "kind", line.type)
        }
        let omission =
            box.omission.map { Self.text(x + 12, y + box.middle(ofPosition: $0.position) + 4, "kind start", $0.text) } ?? .nothing
        return """
            <g class="box\(box.isAbstract ? " abstract" : "")" data-entity="\(index)"><title>\(name)</title>
            <rect class="frame" x="\(Self.number(x))" y="\(Self.number(y))" width="\(Self.number(width))" \
            height="\(Self.number(box.height))" rx="7"/>
            <a href="\(Address.table(name))"><path class="title" d="\(Self.top(x, y, width, isWhole: box.height <= DiagramBox.headHeight))"/>\
            \(Self.text(x + 12, y + 20, "name", box.name))</a>
            \(lines)\(omission)</g>

            """
    }

    /// The head of a box, with round corners at the top, and at the bottom of a box without lines.
    private static func top(_ x: Double, _ y: Double, _ width: Double, isWhole: Bool) -> String {
        let height = DiagramBox.headHeight, (left, right) = (number(x), number(x + width)), bottom = number(y + height)
        if isWhole {
            return "M\(number(x + 7)) \(number(y))H\(number(x + width - 7))q7 0 7 7V\(number(y + height - 7))q0 7 -7 7H\(number(x + 7))"
                + "q-7 0 -7 -7V\(number(y + 7))q0 -7 7 -7z"
        }
        return "M\(left) \(bottom)V\(number(y + 7))q0 -7 7 -7H\(number(x + width - 7))q7 0 7 7V\(bottom)H\(right)z"
    }

    // MARK: Lines

    private func line(_ index: Int) -> HTML {
        let edge = layout.edges[index], route = layout.route(index)
        let start = route.startsAtRight ? 1.0 : -1, end = route.endsAtLeft ? -1.0 : 1
        var path = "M\(Self.point(route.start.x, route.start.y))", last = route.start, direction = start
        for passage in route.passages {
            path += Self.curve(last, direction, passage.from, -direction)
            path += "H\(Self.number(passage.to.x))"
            last = passage.to
            direction = passage.to.x > passage.from.x ? 1 : -1
        }
        path += Self.curve(last, direction, route.end, end)
        let style = edge.isInheritance ? "edge parent" : edge.left.mark == .none || edge.right.mark == .none ? "edge alone" : "edge"
        return """
            <g class="\(style)" data-a="\(edge.left.entity)" data-b="\(edge.right.entity)"><title>\(title(edge))</title><path d="\(path)"/>\
            \(Self.mark(edge.left.mark, route.start, start))\(Self.mark(edge.right.mark, route.end, end))</g>

            """
    }

    private func title(_ edge: DiagramEdge) -> String {
        func name(_ end: DiagramEdge.End) -> String {
            schema.entities[end.entity].name + (end.relationship.map { ".\($0)" } ?? "")
        }
        return edge.isInheritance ? "\(name(edge.right)) is a \(name(edge.left))" : "\(name(edge.left)) — \(name(edge.right))"
    }

    private static func point(_ x: Double, _ y: Double) -> String { "\(number(x)) \(number(y))" }

    /// Returns a curve that leaves both ends horizontally.
    private static func curve(_ a: DiagramLayout.Point, _ out: Double, _ b: DiagramLayout.Point, _ into: Double) -> String {
        // A line back to the same side bulges; one to a box in the next column turns halfway.
        let bend = out == into ? min(30 + abs(a.y - b.y) * 0.12, 60) : max(abs(b.x - a.x) * 0.5, 30)
        return "C\(point(a.x + out * bend, a.y)) \(point(b.x + into * bend, b.y)) \(point(b.x, b.y))"
    }

    /// Returns the sign at an end, outside of the box.
    private static func mark(_ mark: DiagramEdge.Mark, _ at: DiagramLayout.Point, _ out: Double) -> HTML {
        let (x, y) = (at.x, at.y)
        switch mark {
        case .none: return .nothing
        case .one: return #"<path d="M\#(point(x + out * 8, y - 5))V\#(number(y + 5))"/>"#
        case .many:
            return #"<path d="M\#(point(x, y - 5))L\#(point(x + out * 11, y))L\#(point(x, y + 5))"/>"#
        case .parent:
            return #"<path class="triangle" d="M\#(point(x, y))L\#(point(x + out * 11, y - 6))V\#(number(y + 6))z"/>"#
        }
    }
}
