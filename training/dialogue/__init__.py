"""How the task-dialogue generator and its entity retriever were trained.

train_dialogue     the generator: python -m training.dialogue.train_dialogue
fusion_in_decoder  an encoder-decoder of a Hugging Face folder in its place
entity_retriever   an encoder that finds the entities: python -m training.dialogue.entity_retriever
measures           how good replies are, beside the measures of a round
dual_feedback      the generator teaches the entity retriever: python -m training.dialogue.dual_feedback
"""
