"""Chat models behind a server that speaks one of OpenAI's protocols.

chat       writes replies: asks, adapts, tries again
wire       chat completions, as they are sent and come back
responses  the protocol of responses, in terms of chat completions
streams    streams of any server, as events of the client
client     connects, with a key and through a proxy
nearby     model servers on this machine, looked for where somebody asks
server     what a server tells of its models
habits     what a server refused, and how it is asked since
failures   what goes wrong, in words
"""
