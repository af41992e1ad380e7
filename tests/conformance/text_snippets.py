"""Snippets of strings in parts and patterns."""

TABLE = [
    'tf.strings.regex_replace(["hello","world"],"l+","L")',
    'tf.strings.regex_replace("hello","l","L",replace_global=False)',
    'tf.strings.regex_replace("hello","(h)(e)",r"\\2\\1\\0")',
    'tf.strings.regex_replace("hello","(",\'x\')',
    'tf.strings.regex_replace("hello",tf.constant("l"),tf.constant(""))',
    'tf.strings.regex_replace("héé","é","e")',
    'tf.strings.regex_full_match(["abc","ab"],"a.c")',
    'tf.strings.split("a b  c ")',
    'tf.strings.split("a,,b",",")',
    'tf.strings.split("a,b,c",",",maxsplit=1)',
    'tf.strings.split(["a b","c"]).to_list()',
    'tf.strings.split([["a b"],["c"]]).to_list()',
    'tf.strings.split("")',
    'tf.strings.bytes_split("abc")',
    'tf.strings.bytes_split(["ab","c"]).to_list()',
    'tf.strings.unsorted_segment_join(["a","b","c"],[0,1,0],2,separator="-")',
    'tf.compat.v1.string_split(["a b","c d e"]).values',
    'tf.compat.v1.string_split(["a,b;c"],",;").indices',
    'tf.math.invert_permutation([2,0,2])',
    'tf.math.invert_permutation([2,0,5])',
]
