"""The networks of published solvers: one file each, behind `toolkit.nn.network.EquationNetwork`."""
