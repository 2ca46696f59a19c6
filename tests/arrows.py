"""Which folder may import which, and where each heavy library is at home; test_architecture.py holds it."""

from __future__ import annotations

# Lowest first. Each folder may import itself and what stands behind its name; a new arrow is a decision.
_ARROWS = """
agents.losses:
stores.base:
assistant.terminal.input: stores.base
assistant.terminal.text: stores.base
stores.database: stores.base
assistant.settings: assistant.terminal.input stores.base
stores.vectors: stores.base stores.database
stores.words: stores.base stores.database
agents.base: stores.base stores.words
agents.languages: agents.base
assistant.process: assistant.settings stores.base
assistant.scale: assistant.settings stores.base
stores.versions: stores.base stores.database stores.vectors stores.words
agents.models: agents.base agents.languages stores.base
agents.models.encoders: agents.base agents.languages agents.models stores.base
agents.prompts: agents.base stores.base
agents.retrieval: agents.base agents.languages stores.base stores.words
assistant.background: agents.base
assistant.library.formats: agents.base stores.base
stores.checks: stores.base stores.database stores.vectors stores.versions stores.words
stores.conversation: stores.base stores.database stores.versions stores.words
stores.search: stores.base stores.database stores.vectors stores.versions stores.words
agents.answering: agents.base agents.languages agents.prompts agents.retrieval stores.base stores.words
agents.dialogue: agents.base agents.languages agents.models agents.prompts stores.base stores.words
agents.memory: agents.base agents.languages agents.prompts stores.base
agents.models.networks: agents.base agents.models stores.base
assistant.library.chat_logs: stores.base stores.conversation
assistant.search: agents.base agents.dialogue agents.models.encoders agents.retrieval assistant.process
    assistant.settings stores.base stores.database stores.search stores.vectors
stores.claims: stores.base stores.conversation stores.database stores.versions stores.words
stores.learning: stores.base stores.conversation stores.database stores.search
agents.backends.openai: agents.base agents.prompts stores.base
agents.backends: agents.answering agents.backends.openai agents.base agents.languages agents.prompts
    agents.retrieval stores.base
agents.models.exporters: agents.base agents.models agents.models.encoders agents.models.networks stores.base
assistant.learning.recipes: agents.models.exporters stores.base
assistant.remembering: agents.base agents.memory assistant.background assistant.process assistant.search
    stores.base stores.claims stores.conversation stores.database stores.versions
stores.forgetting: stores.base stores.conversation stores.database stores.learning stores.versions
    stores.words
stores.memory: stores.base stores.database stores.learning stores.vectors stores.versions
assistant.library: agents.base assistant.library.formats assistant.scale assistant.settings stores.base
    stores.memory stores.search
assistant.turns: agents.answering agents.base agents.dialogue agents.languages agents.retrieval
    assistant.background assistant.process assistant.remembering assistant.search stores.base stores.claims
    stores.conversation stores.database stores.search stores.versions
stores.exchange: stores.base stores.claims stores.database stores.memory stores.versions
assistant.learning.recipes.examples: agents.models stores.base
assistant.replay.streams: assistant.learning.recipes.examples stores.base
assistant.learning.held_out: agents.base agents.dialogue agents.models agents.retrieval stores.base
    stores.learning stores.search
assistant.replay.metrics: assistant.learning.held_out assistant.replay.streams stores.base
assistant.wiring.parts: agents.answering agents.backends agents.backends.openai agents.base agents.dialogue
    agents.languages
    agents.memory agents.models agents.models.encoders agents.models.networks agents.prompts agents.retrieval
    assistant.background assistant.library assistant.remembering assistant.scale assistant.search
    assistant.settings assistant.turns stores.base stores.claims stores.conversation stores.database
    stores.exchange stores.learning stores.memory stores.search stores.versions
assistant.learning: assistant.learning.held_out assistant.process assistant.search assistant.settings
    assistant.wiring.parts stores.base stores.database stores.learning stores.search
assistant.learning.recipes.query: agents.backends agents.losses agents.models.exporters
    agents.models.networks agents.prompts assistant.learning assistant.learning.held_out
    assistant.learning.recipes assistant.wiring.parts stores.learning
assistant.learning.recipes.dialogue: agents.base agents.dialogue agents.models agents.models.encoders
    agents.models.exporters agents.models.networks assistant.learning assistant.learning.held_out
    assistant.learning.recipes assistant.learning.recipes.examples assistant.wiring.parts stores.base
    stores.learning
assistant.learning.recipes.entities: agents.base agents.dialogue agents.models assistant.learning
    assistant.learning.held_out assistant.learning.recipes assistant.learning.recipes.dialogue
    assistant.search assistant.wiring.parts stores.base stores.learning stores.search
assistant.learning.recipes.relevance: agents.backends agents.losses agents.models.exporters
    agents.retrieval assistant.learning assistant.learning.held_out assistant.learning.recipes
    assistant.wiring.parts stores.database stores.learning
assistant.learning.recipes.retriever: agents.losses agents.models agents.models.encoders
    agents.models.exporters agents.models.networks assistant.learning assistant.learning.held_out
    assistant.learning.recipes assistant.learning.recipes.relevance assistant.search assistant.wiring.parts
    stores.base stores.learning stores.search stores.vectors
assistant.learning.recipes.judge: agents.backends agents.base agents.losses agents.models.networks
    agents.retrieval assistant.learning assistant.learning.held_out assistant.learning.recipes
    assistant.learning.recipes.relevance assistant.learning.recipes.retriever assistant.wiring.parts
    stores.base stores.learning
assistant.learning.recipes.collections: agents.losses agents.models.encoders agents.models.exporters
    agents.models.networks assistant.learning assistant.learning.recipes
    assistant.learning.recipes.retriever assistant.search assistant.wiring.parts stores.base stores.learning
    stores.search
assistant.replay.methods: agents.base agents.losses agents.models.encoders agents.retrieval assistant.learning
    assistant.learning.recipes.collections assistant.learning.recipes.retriever assistant.replay.metrics
    assistant.replay.streams assistant.search stores.base stores.learning stores.search
assistant.wiring: agents.models.encoders assistant.background assistant.learning
    assistant.learning.recipes.collections assistant.learning.recipes.dialogue
    assistant.learning.recipes.entities assistant.learning.recipes.judge assistant.learning.recipes.query
    assistant.learning.recipes.relevance assistant.learning.recipes.retriever assistant.search
    assistant.settings assistant.wiring.parts stores.base stores.forgetting stores.search
assistant.checks: agents.base assistant.settings assistant.wiring stores.base stores.checks
    stores.conversation stores.database stores.search
assistant.replay.storage: assistant.library assistant.library.formats assistant.replay.streams
    assistant.wiring stores.base
assistant.terminal.facts: agents.base agents.retrieval assistant.terminal.input assistant.terminal.text
    assistant.wiring stores.base stores.claims stores.conversation stores.database stores.learning
    stores.memory stores.versions
assistant.terminal.actions: agents.backends.openai agents.base assistant.settings assistant.terminal.facts
    assistant.terminal.input assistant.wiring stores.base stores.claims stores.conversation stores.database
    stores.forgetting stores.learning stores.memory stores.versions
assistant.terminal.comparison: assistant.process assistant.terminal.facts assistant.terminal.input
    assistant.wiring stores.base stores.conversation stores.database stores.learning stores.memory
assistant.replay.runs: agents.backends agents.base agents.models agents.models.encoders
    agents.models.networks agents.retrieval
    assistant.learning assistant.learning.held_out assistant.learning.recipes
    assistant.learning.recipes.collections assistant.learning.recipes.dialogue
    assistant.learning.recipes.examples assistant.learning.recipes.judge
    assistant.learning.recipes.query assistant.learning.recipes.retriever assistant.replay.methods
    assistant.replay.metrics assistant.replay.storage assistant.replay.streams assistant.scale
    assistant.search assistant.settings assistant.turns assistant.wiring assistant.wiring.parts stores.base
    stores.database stores.exchange stores.learning stores.search
assistant.terminal.engine: agents.base assistant.library assistant.terminal.actions
    assistant.terminal.comparison assistant.terminal.facts assistant.terminal.input assistant.turns
    assistant.wiring stores.base stores.claims stores.conversation stores.database stores.versions
assistant.replay.report: assistant.learning.recipes.collections assistant.replay.methods
    assistant.replay.metrics assistant.replay.runs stores.base
assistant.terminal.plain: assistant.settings assistant.terminal.actions assistant.terminal.comparison
    assistant.terminal.engine assistant.terminal.facts assistant.terminal.input assistant.turns
    assistant.wiring stores.base stores.claims stores.conversation stores.database
assistant.terminal.widgets: assistant.terminal.engine assistant.terminal.input assistant.terminal.text
    stores.base
assistant: assistant.process assistant.settings assistant.terminal.plain assistant.terminal.text
    assistant.wiring assistant.wiring.parts stores.base
vouch: agents.backends agents.base agents.retrieval assistant.library assistant.settings
    assistant.terminal.actions assistant.terminal.facts assistant.turns assistant.wiring stores.base
    stores.claims
assistant.doors: assistant.library assistant.process stores.base stores.checks vouch
assistant.terminal.conversation: assistant.terminal.engine assistant.terminal.facts assistant.terminal.input
    assistant.terminal.text assistant.terminal.widgets assistant.turns stores.base
assistant.terminal.lists: assistant.library assistant.terminal.actions assistant.terminal.engine
    assistant.terminal.facts assistant.terminal.input assistant.terminal.text assistant.terminal.widgets
    assistant.wiring stores.base stores.conversation stores.memory
assistant.terminal.memory: assistant.terminal.actions assistant.terminal.engine assistant.terminal.facts
    assistant.terminal.input assistant.terminal.text assistant.terminal.widgets assistant.wiring stores.base
    stores.versions
assistant.terminal.training: assistant.terminal.comparison assistant.terminal.engine
    assistant.terminal.facts assistant.terminal.input assistant.terminal.text assistant.terminal.widgets
    assistant.wiring stores.base stores.database stores.learning
assistant.terminal.why: assistant.terminal.actions assistant.terminal.engine assistant.terminal.facts
    assistant.terminal.input assistant.terminal.widgets stores.base
assistant.commands.memory: assistant assistant.terminal.actions assistant.terminal.facts assistant.turns
    assistant.wiring stores.base stores.claims stores.conversation stores.database stores.exchange
    stores.forgetting stores.memory
assistant.commands.replay: assistant assistant.learning assistant.replay.methods assistant.replay.metrics
    assistant.replay.report assistant.replay.runs assistant.replay.storage assistant.replay.streams
    stores.base stores.database
assistant.commands.training: agents.models.encoders assistant assistant.learning assistant.search
    assistant.terminal.facts assistant.wiring stores.base stores.database stores.learning
assistant.commands.upkeep: assistant assistant.checks stores.base stores.database stores.exchange
assistant.terminal.chat: assistant.terminal.actions assistant.terminal.comparison
    assistant.terminal.conversation assistant.terminal.engine assistant.terminal.facts
    assistant.terminal.input assistant.terminal.lists assistant.terminal.memory assistant.terminal.training
    assistant.terminal.why assistant.terminal.widgets assistant.turns assistant.wiring stores.base
    stores.claims stores.conversation stores.database stores.memory
assistant.terminal.app: assistant.process assistant.terminal.actions assistant.terminal.chat
    assistant.terminal.conversation assistant.terminal.engine assistant.terminal.input
    assistant.terminal.why assistant.terminal.widgets assistant.wiring stores.base
assistant.commands.doors: assistant assistant.doors assistant.process assistant.settings
    assistant.terminal.app assistant.wiring assistant.wiring.parts stores.base stores.checks vouch
assistant.commands: agents.backends assistant assistant.commands.memory assistant.library
    assistant.library.chat_logs assistant.settings assistant.terminal.actions assistant.terminal.app
    assistant.terminal.engine assistant.terminal.facts assistant.terminal.input assistant.terminal.plain
    assistant.terminal.text assistant.turns assistant.wiring stores.base stores.conversation
    stores.database stores.memory stores.versions
"""


def _arrows(text: str) -> dict[str, set[str]]:
    """Each folder with those it may import; its line goes on where the next ones are indented."""
    lines = text.strip().replace("\n    ", " ").splitlines()
    return {folder: set(below.split()) for folder, _, below in (line.partition(":") for line in lines)}


MAY_IMPORT = _arrows(_ARROWS)

# Files and folders that may import a library.
HOMES = {
    "torch": ("agents.models", "agents.losses", "agents.backends.transformers_chat", "assistant.learning"),
    "transformers": ("agents.models", "agents.backends.transformers_chat", "assistant.learning"),
    "onnxruntime": ("agents.models",),
    "chromadb": ("stores.vectors.chroma_index",),
    "faiss": ("stores.vectors.faiss_library",),
    "sqlalchemy": ("stores",),
    "sqlmodel": ("stores",),
    "alembic": ("stores",),
    "openai": ("agents.backends.openai",),
    "vllm": ("agents.backends.vllm_chat",),
    "textual": ("assistant.terminal",),
    "prometheus_client": ("assistant.doors",),
    "ray": ("assistant.scale",),
    "mcp": ("assistant.doors",),
    "uvicorn": ("assistant.doors",),
    "starlette": ("assistant.doors",),
    "click": ("assistant.cli", "assistant.invocation", "assistant.paging", "assistant.commands"),
}
