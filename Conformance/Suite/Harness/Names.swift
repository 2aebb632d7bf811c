internal import PolystoreStorage

// Foundation has types of the same names; within the suite these are meant.
typealias Predicate = PolystoreStorage.Predicate
typealias Expression = PolystoreStorage.Expression
typealias SortDescriptor = PolystoreStorage.SortDescriptor
