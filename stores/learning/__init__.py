"""What is learned from, the rounds of training, and the models that came of them.

lessons           what there is to learn from, read from the turns
dialogue_lessons  replies over a knowledge base that were found right or corrected
follow_ups        questions behind others, and the passages that answered them
relevance_lessons questions, and which of what was found for them helped
teachers          whose words and ratings teach where there are several users
kept_lessons      whether all that a round learned from is still there
lesson_domains    where the passages come from that answer a lesson best
rounds            what was trained on what, and what came of it
round_lineage     from what a round learned, by kind
seeing_rounds     which rounds saw a version or a turn
checkpoints       models that were trained here, as folders
"""
