steps(lambda: v1.train.FtrlOptimizer(0.5, l1_regularization_strength=0.1, l2_regularization_strength=0.2))
