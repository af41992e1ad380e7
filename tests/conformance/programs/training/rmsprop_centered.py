steps(lambda: v1.train.RMSPropOptimizer(0.02, centered=True))
