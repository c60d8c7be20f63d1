namespace facet {}
