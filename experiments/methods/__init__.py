"""Ways of searching that are compared with the product's; each is a `Method` of a replay.

searching             searches that the product does not make
luf_variants          luf with other losses, other memory, or both sides trained
writers               chat models that write for a search
simulated_writers     writers of stated quality
query2doc             searched with a passage that a chat model makes up
query_rewrite         searched with its rewrites
rafe                  rewrites by templates that a policy learns to choose
tent                  the query side adapts by entropy
entropy_minimisation  an encoder's norms, made surer of what each search found
"""
