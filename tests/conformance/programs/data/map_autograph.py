def branch(x):
    if x % 2 == 0:
        return x * 10
    else:
        return -x


def loop(x):
    total = tf.constant(0, tf.int64)
    while x > 0:
        total += x
        x -= 1
    return total


def each(x):
    total = tf.constant(0, tf.int64)
    for i in tf.range(x):
        if i == 3:
            break
        total += i
    return total


show('if', lambda: Dataset.range(5).map(branch))
show('while', lambda: Dataset.range(5).map(loop))
show('for', lambda: Dataset.range(6).map(each))
show('filter', lambda: Dataset.range(6).filter(lambda x: x > 1 and x < 4))
