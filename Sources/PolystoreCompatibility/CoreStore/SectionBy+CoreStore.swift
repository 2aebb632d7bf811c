public import Polystore

extension SectionBy {
    /// Creates sections by the value of a property, given by its stored name.
    ///
    /// - Parameters:
    ///   - keyPath: The stored name of the property.
    ///   - sectionIndexTransformer: A closure that returns the title of a section in an index beside the list (`sectionIndexTitles`) for the
    ///     text of the value, or nil for nil and for the first letter. The name of the section remains the text.
    public init(_ keyPath: String, sectionIndexTransformer: @escaping @Sendable (_ sectionName: String?) -> String?) {
        self.init(keyPath)
        indexTitle = { sectionIndexTransformer($0.isEmpty ? nil : $0) }
    }

    /// Creates sections by the value of a property, with a closure for their index titles.
    public init<Property>(
        _ keyPath: KeyPath<Object, Property>, sectionIndexTransformer: @escaping @Sendable (_ sectionName: String?) -> String?
    ) {
        self.init(keyPath)
        indexTitle = { sectionIndexTransformer($0.isEmpty ? nil : $0) }
    }
}
