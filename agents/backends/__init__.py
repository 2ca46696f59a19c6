"""Chat models.

extractive          quotes the best sentences of the passages found; needs no key, network or download
openai              any server that speaks one of OpenAI's protocols
llamacpp_chat       a GGUF file, run by llama.cpp in a child process: llamacpp_server; served_tokens: what its
                    tokenizer takes for control tokens
transformers_chat   a model in this process, with torch
vllm_chat           a model in a vLLM engine that this process starts

prompt_tokens is what the last two share.
"""
