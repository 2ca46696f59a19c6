"""How the task-dialogue generator and its entity retriever were trained.

train_dialogue     the generator: python -m training.dialogue.train_dialogue
fusion_in_decoder  an encoder-decoder of a Hugging Face folder in its place
entity_retriever   an encoder that finds the entities: python -m training.dialogue.entity_retriever
train_totals       whether a message asks for a sum or a mean: python -m training.dialogue.train_totals
measures           how good replies are, beside the measures of a round
dual_feedback      the generator teaches the entity retriever: python -m training.dialogue.dual_feedback
"""
