"""What is measured: of one question, of many, with intervals and differences.

metrics       what was found and what was said, against what is right
measures      what one answered question is worth
bootstrap     whether one system is surely better than another, and may take its place
held_out      a candidate against the live retriever, on questions that neither was trained on
held_out_replies     the same of the dialogue generator, on replies
held_out_follow_ups  the same of the query model, on follow-ups
held_out_entities    the same of the entity retriever, on replies too
dialogue      what a reply over a knowledge base is worth
figures       what many come to: means, intervals, paired differences
figure_names  figures of a replay, as a person names them: "reranked R@5", "last third/F1", "gain/all/F1"
"""
