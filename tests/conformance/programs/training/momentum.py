steps(lambda: v1.train.MomentumOptimizer(0.02, 0.9))
