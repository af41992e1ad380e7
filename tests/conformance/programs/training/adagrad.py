steps(lambda: v1.train.AdagradOptimizer(0.5))
