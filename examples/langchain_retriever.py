"""A LangChain retriever over one user's memory (pip install langchain-core)."""

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict

from vouch import Vouch


class VouchRetriever(BaseRetriever):
    """What LangChain asks for passages."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    vouch: Vouch
    limit: int = 10

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        found = self.vouch.search(query, self.limit)
        return [
            Document(each.text, metadata={"passage": each.passage, "score": each.score}) for each in found
        ]


with Vouch(user="example") as vouch:
    vouch.add("My sister Mia lives in Porto.")
    for document in VouchRetriever(vouch=vouch).invoke("Where does Mia live?"):
        print(document.page_content, document.metadata)
