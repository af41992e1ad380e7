dataset = Dataset.range(10)
print(sorted(int(x) for x in dataset.shuffle(4)))
print([int(x) for x in dataset.shuffle(1)])
same = dataset.shuffle(10, seed=3, reshuffle_each_iteration=False)
print([int(x) for x in same] == [int(x) for x in same])
other = dataset.shuffle(10, seed=3, reshuffle_each_iteration=True)
print([int(x) for x in other] == [int(x) for x in other])
print(sorted(int(x) for x in other.repeat(2)))
first = [int(x) for x in dataset.shuffle(3).take(1)]
print(first[0] < 3)
show('zero', lambda: dataset.shuffle(0))
show('spec', lambda: dataset.shuffle(2).element_spec)
tf.random.set_seed(5)
a = [int(x) for x in dataset.shuffle(10, seed=1)]
tf.random.set_seed(5)
b = [int(x) for x in dataset.shuffle(10, seed=1)]
print(a == b)
