"""What is measured: of one question, of many, with intervals and differences.

metrics       what stands in what was found and said, against the answers
measures      what one answered question is worth
figures       what many come to: means, intervals, paired differences
forgetting    what a sequence of tasks leaves of each
figure_names  figures of a replay, as a person names them: "reranked R@5", "last third/F1", "gain/all/F1"
"""
