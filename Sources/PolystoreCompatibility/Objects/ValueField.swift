public import Polystore

/// A field that contains a value of a type in the row.
public class ValueField<V: AttributeValue>: FieldBase {
    final var primitive: V
    private let initial: () -> V
    private let isConstant: Bool
    private let originalName: String?

    init(_ keyPath: String, initial: @escaping () -> V, isConstant: Bool, originalName: String?) {
        primitive = V.placeholder
        self.initial = initial
        self.isConstant = isConstant
        self.originalName = originalName
        super.init(keyPath)
    }

    override func declare(_ entity: inout Polystore.Entity, _ types: SchemaTypes) throws(StorageError) {
        let value = isConstant ? initial().attributeValue : .null
        entity.attributes.append(
            Attribute(
                keyPath, V.valueType, isOptional: V.isOptionalAttribute, defaultValue: value.isNull ? nil : value,
                allowedValues: V.allowedValues, coder: V.coderName, originalName: originalName))
    }

    override func load(_ row: borrowing RowView, _ context: borrowing ObjectContext) {
        primitive = CoreStoreObject._decode(row, slot, context)
    }

    override func load<Object>(_ snapshot: ObjectSnapshot<Object>) {
        super.load(snapshot)
        primitive = snapshot.value(keyPath).flatMap { V(attributeValue: $0) } ?? V.placeholder
    }

    override func begin() { primitive = initial() }

    override func encoded(_ batch: RowBatch) -> Cell { primitive._encode(batch) }

    /// The value as accessed through a key path.
    final var stored: V {
        get {
            if slot >= 0 { owner?._withUnsafeGuaranteedRef { $0._check(slot) } }
            return primitive
        }
        set {
            guard slot >= 0, let object else {
                primitive = newValue
                return
            }
            if owner == nil, let successor = object.declaredFields.first(where: { $0.keyPath == keyPath }) as? ValueField<V> {
                successor.stored = newValue
                primitive = successor.primitive
                return
            }
            guard let value = object._acceptBytes(newValue, slot) else { return }
            object._touch(slot)
            primitive = value
        }
    }
}
