internal import PolystoreStorage

/// The coordinates of boxes and lines of a diagram.
///
/// Boxes are in columns, so that the end of a relationship with one object is left of the end with many, and parents are left of their
/// children. A line that passes columns has a position in each of them, so that it runs between the boxes. The order in the columns, and then
/// the heights, follow the neighbours (Sugiyama, Tagawa and Toda 1981).
struct DiagramLayout {
    /// Something with a position in a column: a box, or a line that passes.
    private struct Item {
        let height: Double
        let column: Int
        var y = 0.0
        /// The items to which lines lead, with the distances of the ends from the tops of both.
        var neighbours: [(item: Int, own: Double, other: Double)] = []
    }

    let boxes: [DiagramBox]
    let edges: [DiagramEdge]
    private(set) var width = 0.0
    private(set) var height = 0.0
    private var items: [Item] = []
    private var columns: [[Int]] = []
    private var columnX: [Double] = []
    private var columnWidth: [Double] = []
    /// The items that each line passes.
    private var passed: [[Int]] = []

    private static let gap = 28.0, passage = 6.0, passageGap = 12.0, columnGap = 84.0, margin = 24.0

    init(_ schema: Schema) {
        boxes = schema.entities.indices.map { DiagramBox(schema, $0) }
        edges = DiagramEdge.all(schema)
        place()
        arrange()
        settle()
        measure()
    }

    // MARK: Results

    /// Returns the left top of a box.
    func origin(_ box: Int) -> (x: Double, y: Double) { (columnX[items[box].column], items[box].y) }

    /// Returns the width of a box, which is that of its column.
    func boxWidth(_ box: Int) -> Double { columnWidth[items[box].column] }

    /// A point of a line, and the direction in which the line leaves a box.
    struct Point {
        let x: Double
        let y: Double
    }

    /// A line: its ends, and the parts in which it runs straight.
    struct Route {
        let start: Point
        let end: Point
        /// The beginning and the end of each straight part.
        let passages: [(from: Point, to: Point)]
        /// Whether the line leaves the start to the right, and the end to the left. A line within a column leaves both to the right.
        let endsAtLeft: Bool
        let startsAtRight: Bool
    }

    func route(_ index: Int) -> Route {
        let edge = edges[index], start = edge.left.entity, end = edge.right.entity
        let from = items[start].column, to = items[end].column
        let startY = items[start].y + anchor(edge.left), endY = items[end].y + anchor(edge.right)
        let isForward = from < to, isLoop = from == to
        let startX = columnX[from] + (isForward || isLoop ? columnWidth[from] : 0)
        let endX = columnX[to] + (isForward ? 0 : columnWidth[to])
        let passages = passed[index].map { item in
            let left = Point(x: columnX[items[item].column], y: items[item].y + Self.passage / 2)
            let right = Point(x: left.x + columnWidth[items[item].column], y: left.y)
            return isForward ? (left, right) : (right, left)
        }
        return Route(
            start: Point(x: startX, y: startY), end: Point(x: endX, y: endY), passages: passages, endsAtLeft: isForward,
            startsAtRight: isForward || isLoop)
    }

    private func anchor(_ end: DiagramEdge.End) -> Double {
        end.relationship.flatMap { boxes[end.entity].middle(of: $0) } ?? DiagramBox.headHeight / 2
    }

    // MARK: Columns

    /// Puts boxes and passing lines into columns.
    private mutating func place() {
        let levels = levels()
        items = boxes.indices.map { Item(height: boxes[$0].height, column: levels[$0]) }
        for edge in edges {
            let from = edge.left.entity, to = edge.right.entity
            var chain = [from], between: [Int] = []
            let step = levels[from] <= levels[to] ? 1 : -1
            for column in stride(from: levels[from] + step, to: levels[to], by: step) {
                between.append(items.count)
                items.append(Item(height: Self.passage, column: column))
            }
            passed.append(between)
            chain += between + [to]
            for (a, b) in zip(chain, chain.dropFirst()) where a != b {
                let first = a == from ? anchor(edge.left) : Self.passage / 2, second = b == to ? anchor(edge.right) : Self.passage / 2
                items[a].neighbours.append((b, first, second))
                items[b].neighbours.append((a, second, first))
            }
        }
        columns = Array(repeating: [], count: (levels.max() ?? -1) + 1)
        for (index, item) in items.enumerated() { columns[item.column].append(index) }
    }

    /// Returns the column of each box.
    private func levels() -> [Int] {
        var next: [[Int]] = Array(repeating: [], count: boxes.count), isLinked = Array(repeating: false, count: boxes.count)
        for edge in edges where edge.left.entity != edge.right.entity {
            next[edge.left.entity].append(edge.right.entity)
            isLinked[edge.left.entity] = true
            isLinked[edge.right.entity] = true
        }
        let most = Int((Double(boxes.count) * 1.6).squareRoot().rounded(.up))
        var levels = longestPaths(next).map { min($0, most - 1) }
        balance(&levels, isLinked)
        let used = Set(levels).sorted()
        return levels.map { used.firstIndex(of: $0) ?? 0 }
    }

    /// Returns the longest path to each box, without the edges that close a circle.
    private func longestPaths(_ next: [[Int]]) -> [Int] {
        var state = Array(repeating: 0, count: boxes.count), order: [Int] = []
        var kept: [[Int]] = Array(repeating: [], count: boxes.count)
        for root in boxes.indices where state[root] == 0 {
            // A list instead of recursion: a schema can have thousands of entities.
            var path = [(node: root, position: 0)]
            state[root] = 1
            while let (node, position) = path.last {
                guard position < next[node].count else {
                    state[node] = 2
                    order.append(node)
                    path.removeLast()
                    continue
                }
                path[path.count - 1].position += 1
                let child = next[node][position]
                if state[child] != 1 { kept[node].append(child) }
                if state[child] == 0 {
                    state[child] = 1
                    path.append((child, 0))
                }
            }
        }
        var levels = Array(repeating: 0, count: boxes.count)
        for node in order.reversed() { for child in kept[node] { levels[child] = max(levels[child], levels[node] + 1) } }
        return levels
    }

    /// Puts boxes without lines where there is room, and moves boxes out of columns that are much higher than others.
    private func balance(_ levels: inout [Int], _ isLinked: [Bool]) {
        let total = boxes.reduce(0) { $0 + $1.height + Self.gap }
        let count = max((levels.max() ?? 0) + 1, Int((total / 900).rounded(.up)))
        var heights = Array(repeating: 0.0, count: count)
        for (box, level) in levels.enumerated() where isLinked[box] { heights[level] += boxes[box].height + Self.gap }
        let limit = max(700, total / Double(count) * 1.5)
        for level in 0..<max(0, count - 1) where heights[level] > limit {
            for box in boxes.indices.reversed() where levels[box] == level && isLinked[box] && heights[level] > limit {
                levels[box] = level + 1
                heights[level] -= boxes[box].height + Self.gap
                heights[level + 1] += boxes[box].height + Self.gap
            }
        }
        for box in boxes.indices where !isLinked[box] {
            let level = heights.indices.min { heights[$0] < heights[$1] } ?? 0
            levels[box] = level
            heights[level] += boxes[box].height + Self.gap
        }
    }

    // MARK: Heights

    private func gap(_ a: Int, _ b: Int) -> Double { a >= boxes.count && b >= boxes.count ? Self.passageGap : Self.gap }

    /// Stacks the items of a column from the top.
    private mutating func stack(_ column: Int) {
        var y = Self.margin
        for (position, item) in columns[column].enumerated() {
            if position > 0 { y += gap(columns[column][position - 1], item) }
            items[item].y = y
            y += items[item].height
        }
    }

    /// The height at which the lines of an item would be straight; nil without lines.
    private func wish(_ item: Int) -> Double? {
        let neighbours = items[item].neighbours
        if neighbours.isEmpty { return nil }
        return neighbours.reduce(0) { $0 + items[$1.item].y + $1.other - $1.own } / Double(neighbours.count)
    }

    /// Sorts the columns by the heights of the neighbours, in both directions.
    private mutating func arrange() {
        for column in columns.indices { stack(column) }
        for sweep in 0..<8 {
            for column in sweep % 2 == 0 ? Array(columns.indices) : columns.indices.reversed() {
                let wishes = Dictionary(uniqueKeysWithValues: columns[column].map { ($0, wish($0) ?? items[$0].y) })
                columns[column].sort { a, b in ((wishes[a] ?? 0) + items[a].height / 2, a) < ((wishes[b] ?? 0) + items[b].height / 2, b) }
                stack(column)
            }
        }
    }

    /// Moves items towards their neighbours as far as the order allows.
    private mutating func settle() {
        for sweep in 0..<12 {
            for column in sweep % 2 == 0 ? Array(columns.indices) : columns.indices.reversed() { settle(column) }
        }
        let top = items.map(\.y).min() ?? 0
        for index in items.indices { items[index].y += Self.margin - top }
    }

    private mutating func settle(_ column: Int) {
        let list = columns[column]
        for index in list { items[index].y = wish(index) ?? items[index].y }
        // Pushes apart from both ends, and takes the middle of both results.
        var down = list.map { items[$0].y }, up = down
        for position in list.indices.dropFirst() {
            let before = list[position - 1]
            down[position] = max(down[position], down[position - 1] + items[before].height + gap(before, list[position]))
        }
        for position in list.indices.dropLast().reversed() {
            let after = list[position + 1]
            up[position] = min(up[position], up[position + 1] - gap(list[position], after) - items[list[position]].height)
        }
        for (position, index) in list.enumerated() { items[index].y = (down[position] + up[position]) / 2 }
    }

    private mutating func measure() {
        var x = Self.margin
        for column in columns {
            columnX.append(x)
            let widest = column.filter { $0 < boxes.count }.map { boxes[$0].width }.max() ?? 40
            columnWidth.append(widest)
            x += widest + Self.columnGap
        }
        width = columns.isEmpty ? 0 : x - Self.columnGap + Self.margin + 50
        height = (items.map { $0.y + $0.height }.max() ?? 0) + Self.margin
    }
}
