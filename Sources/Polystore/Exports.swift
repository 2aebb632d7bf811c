@_exported public import PolystoreObjects
@_exported public import PolystoreObservation
