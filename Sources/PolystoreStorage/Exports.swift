@_exported public import PolystoreQuery
@_exported public import PolystoreSchema
