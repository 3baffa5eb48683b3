"""What was said between a model, its user and its tools, in any of the shapes that rows write it in.

Pure, over values that passed `rlx.answers`; takes whatever JSON there is and never raises.
"""

from rlx.formats.conversation.reading import is_conversation, turns
from rlx.formats.conversation.tooling import tools

__all__ = ["is_conversation", "tools", "turns"]
