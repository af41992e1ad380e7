steps(lambda: v1.train.MomentumOptimizer(0.02, 0.9, use_nesterov=True))
