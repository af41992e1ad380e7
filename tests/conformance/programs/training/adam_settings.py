steps(lambda: v1.train.AdamOptimizer(0.1, 0.8, 0.9, 1e-3, name="Mine"))
