"""A LlamaIndex retriever over one user's memory (pip install llama-index-core)."""

from llama_index.core import QueryBundle
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, TextNode

from vouch import Vouch


class VouchRetriever(BaseRetriever):
    """What LlamaIndex asks for passages."""

    def __init__(self, vouch: Vouch, limit: int = 10) -> None:
        self._vouch, self._limit = vouch, limit
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = self._vouch.search(query_bundle.query_str, self._limit)
        return [
            NodeWithScore(node=TextNode(text=each.text, id_=str(each.passage)), score=each.score)
            for each in found
        ]


with Vouch(user="example") as vouch:
    vouch.add("My sister Mia lives in Porto.")
    for node in VouchRetriever(vouch).retrieve("Where does Mia live?"):
        print(node.text, node.score)
