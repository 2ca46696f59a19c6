"""Chat models.

extractive          quotes the best sentences of the passages found; needs no key, network or download
openai_chat         any server that speaks OpenAI's protocol; openai_wire: what is sent and comes back,
                    openai_failures: what goes wrong there
llamacpp_chat       a GGUF file, run by llama.cpp in a child process: llamacpp_server; served_tokens: what its
                    tokenizer takes for control tokens
transformers_chat   a model in this process, with torch
vllm_chat           a model in a vLLM engine that this process starts

structured_replies and prompt_tokens are what several of them share.
"""
