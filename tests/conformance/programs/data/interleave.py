def three(x):
    return Dataset.from_tensors(x).repeat(3)


for cycle, block in ((1, 1), (2, 1), (3, 1), (2, 2), (2, 4), (5, 2)):
    show((cycle, block), lambda: Dataset.range(1, 5).interleave(three, cycle_length=cycle, block_length=block))
show('uneven', lambda: Dataset.range(5).interleave(lambda x: Dataset.range(x), cycle_length=2))
show('uneven 3', lambda: Dataset.range(6).interleave(lambda x: Dataset.range(6 - x), cycle_length=3, block_length=2))
show('empty', lambda: Dataset.range(4).interleave(lambda x: Dataset.range(0), cycle_length=2))
show('parallel', lambda: Dataset.range(1, 5).interleave(three, cycle_length=2, num_parallel_calls=2))
show('repr', lambda: repr(Dataset.range(2).interleave(three, cycle_length=2)))
