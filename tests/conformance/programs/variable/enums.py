import tensorflow as tf, numpy as np

print(list(tf.VariableSynchronization))
print([(x.name, x.value) for x in tf.VariableAggregation])
print(tf.Variable(1.).aggregation.name, tf.Variable(1.).synchronization.name)
