steps(lambda: v1.train.FtrlOptimizer(0.5))
