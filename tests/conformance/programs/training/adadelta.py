steps(lambda: v1.train.AdadeltaOptimizer(1.0))
