steps(lambda: v1.train.RMSPropOptimizer(0.02, 0.8, 0.5, 1e-3))
