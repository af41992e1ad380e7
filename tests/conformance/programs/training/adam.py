steps(lambda: v1.train.AdamOptimizer(0.1))
