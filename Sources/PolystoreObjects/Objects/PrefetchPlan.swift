internal import PolystoreStorage

/// Relationships to prefetch, each with those of its destinations.
struct PrefetchPlan: Equatable {
    struct Step: Equatable {
        let name: String
        var rest: PrefetchPlan
    }

    /// The relationships, in the order of their first request. An array, so that objects share it.
    private(set) var steps: [Step] = []

    init(_ paths: [PropertyPath] = []) { for path in paths { add(path.names[...]) } }

    private mutating func add(_ names: ArraySlice<String>) {
        guard let name = names.first else { return }
        let index = index(of: name)
        steps[index].rest.add(names.dropFirst())
    }

    /// Returns the index of a relationship, which is added if necessary.
    private mutating func index(of name: String) -> Int {
        if let index = steps.firstIndex(where: { $0.name == name }) { return index }
        steps.append(Step(name: name, rest: PrefetchPlan()))
        return steps.count - 1
    }

    /// Returns the plan of the destinations of a relationship; nil if the relationship is not part of this plan.
    func rest(_ name: String) -> PrefetchPlan? { steps.first { $0.name == name }?.rest }

    /// Returns whether this plan contains another one. Shared plans are equal without a comparison of their relationships.
    func contains(_ other: PrefetchPlan) -> Bool {
        self == other || other.steps.allSatisfy { step in rest(step.name)?.contains(step.rest) == true }
    }

    /// Returns a plan that contains both. It is shared with one of them if that contains the other.
    func joined(with other: PrefetchPlan) -> PrefetchPlan {
        if contains(other) { return self }
        if other.contains(self) { return other }
        var joined = self
        for step in other.steps {
            let index = joined.index(of: step.name)
            joined.steps[index].rest = joined.steps[index].rest.joined(with: step.rest)
        }
        return joined
    }
}
