steps(lambda: v1.train.GradientDescentOptimizer(0.05))
