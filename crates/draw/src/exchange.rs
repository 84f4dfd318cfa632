//! A graph for other programs: GraphML, GML and Cytoscape's JSON, each with all numbers of the picture.
