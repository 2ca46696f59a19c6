"""The networks in torch that are trained here and exported.

pooling          and reader_adapters parts of it
reader_adapters  low-rank corrections of a frozen body, in torch: measured beside a trained body, and not
                 shipped
reader_network   the reader's network in torch: MiniLM's layers over its frozen embeddings, and a head for
                 each task
"""
